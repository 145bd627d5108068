"""cu264 vle: files, pipes, damaged input, bad outputs, signals. These tests do not need ffmpeg."""
import glob
import lzma
import os
import random
import signal
import subprocess
import time

from support import CU264, FolderTest, QUICK, TIMEOUT, main


def noise(size, symbols=256, seed=1):
    generator = random.Random(seed)
    return bytes(generator.choices(range(symbols), k=size))


class Vle(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.text = cls.file("text", b"It was the best of times, it was the worst of times. " * 4000)
        cls.coded = cls.path("text.vle")
        subprocess.run([CU264, "vle", "compress", cls.text, "-o", cls.coded, "-q"], check=True, timeout=TIMEOUT)

    @classmethod
    def file(cls, name, content):
        with open(cls.path(name), "wb") as file:
            file.write(content)
        return cls.path(name)

    @staticmethod
    def read(path):
        with open(path, "rb") as file:
            return file.read()

    def vle(self, *arguments, code=0, **keywords):
        keywords.setdefault("stdin", None if "input" in keywords else subprocess.DEVNULL)
        if keywords["stdin"] is None:
            del keywords["stdin"]
        done = subprocess.run([CU264, "vle", *arguments, "-y"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=TIMEOUT, **keywords)
        done.stderr = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, f"cu264 vle {' '.join(arguments)}\n{done.stderr}")
        return done

    def refuse(self, code, pattern, *arguments, output="refused", **keywords):
        before = set(os.listdir(self.folder))
        if output:
            arguments = (*arguments, "-o", self.path(output))
        done = self.vle(*arguments, code=code, **keywords)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], "^cu264: error: ")
        self.assertRegex(lines[0], pattern)
        self.assertEqual(set(os.listdir(self.folder)), before, "a file was left behind")
        return done

    def round_trip(self, content, *options):
        original, coded, back = self.file("a", content), self.path("a.vle"), self.path("a.back")
        self.vle("compress", original, "-o", coded, "--quiet", *options)
        self.vle("expand", coded, "-o", back, "--quiet", *options)
        self.assertTrue(self.read(back) == content)
        return self.read(coded)

    def test_sizes(self):
        for size in (0, 1, 2, 3, 5, 1023, 1024, 1025, 99991):
            for symbols in (1, 256) if QUICK else (1, 2, 50, 256):
                with self.subTest(size=size, symbols=symbols):
                    content = noise(size, symbols)
                    coded = self.round_trip(content, "--backend", "cpu")
                    self.assertEqual(coded, self.round_trip(content, "--backend", "cpu", "--threads", "1"))
                    self.assertLessEqual(len(coded), 48 + (40 + size if size else 0))

    def test_several_segments(self):
        content = b"0123456789abcdef--" * (2 << 20)
        coded = self.round_trip(content)
        self.assertLess(len(coded), len(content) * 6 // 10)
        self.assertTrue(self.vle("expand", "-", "-o", "-", input=coded).stdout == content)

    def test_corpora(self):
        folder = os.environ.get("CU264_TEST_DATA")
        files = glob.glob(os.path.join(folder or "", "corpora", "*.xz")) if folder else []
        if not files:
            self.skipTest("CU264_TEST_DATA names no folder with corpora/*.xz")
        for name in files:
            with self.subTest(file=os.path.basename(name)), lzma.open(name) as file:
                content = file.read()
                self.assertLess(len(self.round_trip(content)), len(content) * 7 // 10)

    def test_pipes(self):
        coded = self.vle("compress", "-", "-o", "-", input=self.read(self.text)).stdout
        self.assertEqual(coded, self.read(self.coded))
        self.assertEqual(self.vle("expand", "-", "-o", "-", input=coded).stdout, self.read(self.text))
        # The input comes through a pipe, a few bytes at a time.
        command = subprocess.Popen([CU264, "vle", "compress", "-", "-o", "-"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for part in (b"a", b"bc", b"d" * 5000):
            command.stdin.write(part)
            command.stdin.flush()
            time.sleep(0.15)
        slow = command.communicate(timeout=TIMEOUT)[0]
        self.assertEqual(self.vle("expand", "-", "-o", "-", input=slow).stdout, b"abc" + b"d" * 5000)

    def test_report_and_help(self):
        done = self.vle("expand", self.coded, "-o", self.path("report"))
        self.assertRegex(done.stderr, r"^cu264: expanded .* MB to .* MB .* MB/s, cpu: ")
        self.assertEqual(self.vle("expand", self.coded, "-o", self.path("report"), "-q").stderr, "")
        for words in (["--help"], ["compress", "--help"]):
            self.assertIn(b"cu264 vle compress|expand", self.vle(*words).stdout)

    def test_usage(self):
        for pattern, words in (("nothing to do", []), ("neither compress nor expand", ["squeeze", self.text]),
                               ("no input", ["compress"]), ("one name too many", ["expand", "a", "b"]),
                               ('backend "gpu"', ["compress", self.text, "--backend", "gpu"]),
                               ("threads", ["compress", self.text, "--threads", "-1"]),
                               ("threads", ["compress", self.text, "--threads", "99999"]),
                               ("progress", ["compress", self.text, "--progress", "on"]),
                               ("did you mean --threads", ["compress", self.text, "--treads", "1"]),
                               ("twice", ["compress", self.text, "--threads", "1", "--threads", "2"])):
            with self.subTest(words=words):
                self.refuse(1, pattern, *words)
        self.refuse(1, "no output", "compress", self.text, output=None)
        self.refuse(1, "same file", "compress", self.text, output="text")
        os.link(self.text, self.path("other-name"))
        self.refuse(1, "same file", "compress", self.text, output="other-name")

    def test_bad_input(self):
        self.refuse(2, "No such file", "compress", self.path("nowhere"))
        self.refuse(2, "directory", "compress", self.folder)
        self.refuse(2, "not a cu264 vle file", "expand", self.text)
        self.refuse(2, "empty", "expand", self.file("nothing", b""))
        self.refuse(2, "empty", "expand", "-")

    def test_damage(self):
        coded = self.read(self.coded)
        generator = random.Random(3)
        for at in sorted({0, 7, 8, 20, 47, 48, 80, len(coded) - 1, *(generator.randrange(len(coded)) for _ in range(30))}):
            with self.subTest(byte=at):
                bad = bytearray(coded)
                bad[at] ^= 1 << generator.randrange(8)
                self.refuse(2, "bad.vle", "expand", self.file("bad.vle", bad))
        for left in (1, 7, 8, 30, 48, 60, len(coded) // 2, len(coded) - 40, len(coded) - 1):
            with self.subTest(left=left):
                self.refuse(2, "bad.vle", "expand", self.file("bad.vle", coded[:left]))
        self.refuse(2, "after the end record", "expand", self.file("bad.vle", coded + b"x"))
        # A file that was there before stays as it was.
        kept = self.file("kept", b"precious")
        self.refuse(2, "bad.vle", "expand", self.path("bad.vle"), output="kept")
        self.assertEqual(self.read(kept), b"precious")

    def test_bad_output(self):
        for verb, source in (("compress", self.text), ("expand", self.coded)):
            self.refuse(4, "No such file", verb, source, output="nowhere/out")
            self.refuse(4, "directory", verb, source, output=".")
            self.refuse(4, "/dev/full.*[Nn]o space", verb, source, output="/dev/full")

    def test_closed_pipe(self):
        command = subprocess.Popen([CU264, "vle", "expand", self.coded, "-o", "-"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        command.stdout.close()
        self.assertIn("Broken pipe", command.stderr.read().decode())
        command.stderr.close()
        self.assertEqual(command.wait(TIMEOUT), 4)

    def test_interrupted(self):
        before = set(os.listdir(self.folder))
        command = subprocess.Popen([CU264, "vle", "compress", "-", "-o", self.path("late")], stdin=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        command.stdin.write(b"some")
        command.stdin.flush()
        self.addCleanup(command.kill)
        self.wait_until_it_catches(command, signal.SIGINT)
        command.send_signal(signal.SIGINT)
        self.assertEqual(command.wait(TIMEOUT), 130)
        self.assertIn("interrupted", command.stderr.read().decode())
        command.stdin.close()
        command.stderr.close()
        self.assertEqual(set(os.listdir(self.folder)), before)


if __name__ == "__main__":
    main()
