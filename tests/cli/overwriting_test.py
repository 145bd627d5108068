"""Outputs that exist: who may overwrite them, links, write-protected files, names of any length."""
import os
import pty
import signal
import subprocess
import unittest

from support import CU264, TIMEOUT, CommandTest, main, pseudo_terminal_error, video_stream


class Overwriting(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.clip("in.y4m", frames=2)

    def old(self, name):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(b"precious")
        return path

    def is_old(self, path):
        with open(path, "rb") as file:
            return file.read() == b"precious"

    def test_encode_refuses_what_exists(self):
        old = self.old("old.mp4")
        for options in ([], ["-n"]):
            done = self.encode(self.input, old, *options, code=4, overwrite=False)
            self.assertRegex(done.stderr, "^cu264: error: .*old.mp4: exists .*-y")
            self.assertTrue(self.is_old(old))
        self.encode(self.input, old, "-y", overwrite=False)
        self.assertEqual(video_stream(old)["nb_read_packets"], "2")
        self.assertIn("contradict", self.encode(self.input, old, "-y", "-n", code=1, overwrite=False).stderr)

    def test_every_output_counts(self):
        for option in ("--recon", "--stats"):
            old = self.old("old" + option)
            self.encode(self.input, self.path("new.mp4"), option, old, code=4, overwrite=False)
            self.assertTrue(self.is_old(old))
            self.assertFalse(os.path.exists(self.path("new.mp4")))

    def test_every_verb_refuses_what_exists(self):
        old, stream, key = self.old("old"), self.path("in.264"), self.path("key")
        self.encode(self.input, stream)
        self.cu264("protect", "new-key", key)
        for arguments in (["edges", self.input, self.old("old.264")],
                          ["edges", self.input, self.old("old.png"), "--frames", "1"],
                          ["vle", "compress", self.input, old],
                          ["protect", "encrypt", stream, self.old("old.264"), "--key-file", key],
                          ["watermark", "extract", stream, old, "--key-file", key],
                          ["hide", "get", stream, old, "--key-file", key]):
            with self.subTest(arguments=arguments):
                done = self.cu264(*arguments, code=4, overwrite=False)
                self.assertIn("exists (-y overwrites it)", done.stderr)
                self.assertTrue(self.is_old(arguments[2] if arguments[0] == "edges" else arguments[3]))

    def test_links_are_written_through(self):
        os.mkdir(self.path("folder"))
        target, link = self.path("folder/new.mp4"), self.path("link.mp4")
        os.symlink("folder/new.mp4", link)
        self.encode(self.input, link, overwrite=False)  # its target is not there yet
        self.assertTrue(os.path.islink(link))
        self.assertEqual(video_stream(target)["nb_read_packets"], "2")
        self.assertIn("exists", self.encode(self.input, link, code=4, overwrite=False).stderr)
        self.encode(self.input, "--frames", "1", link, "-y")
        self.assertTrue(os.path.islink(link))
        self.assertEqual(video_stream(target)["nb_read_packets"], "1")

    def test_write_protected_files_stay(self):
        old = self.old("protected.mp4")
        os.chmod(old, 0o444)
        self.assertIn("write-protected", self.encode(self.input, old, "-y", code=4).stderr)
        self.assertTrue(self.is_old(old))

    def test_names_of_any_length(self):
        for size in (247, 248, 255):
            name = "n" * (size - 4) + ".mp4"
            self.encode(self.input, self.path(name))
            self.assertEqual(video_stream(self.path(name))["nb_read_packets"], "2")
        self.refuse(4, "name too long|File name too long", self.input, output="n" * 252 + ".mp4")


@unittest.skipIf(pseudo_terminal_error(), f"no pseudo-terminal here: {pseudo_terminal_error()}")
class Asking(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.clip("in.y4m", frames=2)

    def answer(self, text, *options):
        """Returns the exit status of an encode over a file of one byte, at a terminal where `text` is typed."""
        with open(self.path("asked.mp4"), "wb") as file:
            file.write(b"x")
        master, slave = os.openpty()
        os.write(master, text)
        command = subprocess.Popen([CU264, "encode", self.input, self.path("asked.mp4"), *options], stdin=slave,
                                   stderr=slave)
        os.close(slave)
        code = command.wait(TIMEOUT)
        os.close(master)
        return code, os.path.getsize(self.path("asked.mp4")) > 1

    def test_signals_end_the_question(self):
        """Each verb that asks; ^C comes from the terminal, as if typed, once the question stands there."""
        stream, key = self.path("in.264"), self.path("key")
        self.encode(self.input, stream)
        self.cu264("protect", "new-key", key)
        old = self.path("asked")
        for code, interrupt, arguments in (
                (130, b"\x03", ["encode", self.input, old + ".mp4"]),
                (143, signal.SIGTERM, ["encode", self.input, old + ".mp4"]),
                (130, b"\x03", ["edges", self.input, old + ".264"]),
                (130, b"\x03", ["edges", self.input, old + ".png", "--frames", "1"]),
                (130, b"\x03", ["vle", "compress", self.input, old]),
                (130, b"\x03", ["protect", "encrypt", stream, old + ".264", "--key-file", key]),
                (130, b"\x03", ["hide", "get", stream, old, "--key-file", key])):
            with self.subTest(arguments=arguments, code=code):
                output = arguments[2] if arguments[0] in ("encode", "edges") else arguments[3]
                with open(output, "wb") as file:
                    file.write(b"x")
                before = set(os.listdir(self.folder))
                child, master = pty.fork()  # the child's controlling terminal is the other side of `master`
                if child == 0:
                    os.execv(CU264, [CU264, *arguments])
                said = b""
                while not said.endswith(b"[y/N] "):
                    said += os.read(master, 1024)
                os.write(master, interrupt) if isinstance(interrupt, bytes) else os.kill(child, interrupt)
                status = os.waitpid(child, 0)[1]
                os.close(master)
                self.assertEqual((os.WIFEXITED(status), os.waitstatus_to_exitcode(status)), (True, code))
                self.assertEqual(os.path.getsize(output), 1)
                self.assertEqual(set(os.listdir(self.folder)), before, "a file was left behind")

    def test_a_person_decides(self):
        for text, overwritten in ((b"y\n", True), (b"yes\n", True), (b"n\n", False), (b"\n", False), (b"\x04", False)):
            self.assertEqual(self.answer(text), (0 if overwritten else 4, overwritten), text)
        self.assertEqual(self.answer(b"y\n", "-n"), (4, False))


if __name__ == "__main__":
    main()
