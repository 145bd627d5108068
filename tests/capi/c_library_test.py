"""What libcu264.so exports and promises to compiled programs, that its header suits C and C++, and the C sample."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY, LAYOUT, SAMPLE = (os.environ[name] for name in ("LIBRARY", "LAYOUT", "SAMPLE"))
HEADER = os.path.join(ROOT, "include/cu264/cu264.h")
ABI = os.path.join(ROOT, "capi/abi.txt")


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    assert done.returncode == 0, f"{command}: {done.stdout}"
    return done.stdout


def exported():
    """Names of the functions and objects that the library defines for others."""
    lines = run("nm", "-D", "--defined-only", LIBRARY).splitlines()
    return sorted(line.split()[-1].partition("@")[0] for line in lines if line.split()[-2] != "A")


def declared():
    with open(HEADER, encoding="utf-8") as file:
        return sorted(re.findall(r"^CU264_API [^;(]*?(\w+)\(", file.read(), re.MULTILINE))


class Library(unittest.TestCase):
    def test_exports_what_the_header_declares_and_nothing_else(self):
        self.assertGreater(len(declared()), 30)
        self.assertEqual(exported(), declared())

    def test_soname(self):
        self.assertRegex(run("readelf", "-d", LIBRARY), r"SONAME.*\[libcu264\.so\.0\]")

    def test_abi_is_that_which_was_promised(self):
        """What a program of before relies on is still there. New lines are new promises: add them to the file."""
        with open(ABI, encoding="utf-8") as file:
            promised = [line for line in file.read().splitlines() if line and not line.startswith("#")]
        now = [f"{name}()" for name in exported()] + run(LAYOUT).splitlines()
        # A struct may grow at its end, which struct_size tells.
        sizes = {line.split()[0] for line in promised if re.fullmatch(r"cu264_\w+ \d+", line)} - {"cu264_setting"}
        lost = [line for line in promised if line not in now and line.split()[0] not in sizes]
        self.assertEqual(lost, [], "programs that were compiled before rely on these")
        self.assertEqual([line for line in now if line not in promised], [], f"lines that {ABI} lacks")

    def test_header_is_strict_c_and_cpp(self):
        flags = ["-fsyntax-only", "-pedantic-errors", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-I", os.path.join(ROOT, "include")]
        compilers = [(os.environ["CC"], os.environ["CXX"])]
        if shutil.which("clang") and shutil.which("clang++"):
            compilers.append(("clang", "clang++"))
        for c, cpp in compilers:
            for compiler, language, standards in ((c, "c", ("c11", "c17")), (cpp, "c++", ("c++11", "c++20"))):
                for standard in standards:
                    with tempfile.NamedTemporaryFile("w", suffix=".c" if language == "c" else ".cpp") as source:
                        source.write("#include <cu264/cu264.h>\n#include <cu264/cu264.h>\nextern cu264_frame frame;\n")
                        source.flush()
                        run(compiler, "-x", language, f"-std={standard}", *flags, source.name)


@unittest.skipUnless(SAMPLE, "the samples are not built")
class Sample(unittest.TestCase):
    def test_codes_pictures_and_explains_errors(self):
        with tempfile.TemporaryDirectory() as folder:
            pictures, stream = os.path.join(folder, "in.gray"), os.path.join(folder, "out.264")
            with open(pictures, "wb") as file:
                file.write(bytes(range(256)) * (64 * 48 * 3 // 256))
            run(SAMPLE, pictures, "64x48", stream, "qp=20", "cavlc", "backend=cpu")
            with open(stream, "rb") as file:
                units = file.read().split(b"\0\0\1")
            self.assertEqual(sum(unit[:1] and unit[0] & 31 == 5 for unit in units), 3)
            for options, words in ((["qp=99"], 'bad qp "99"'), (["quality=3"], 'unknown option "quality"'),
                                   (["backend=cpu", "slices=9"], "slices")):
                done = subprocess.run([SAMPLE, pictures, "64x48", stream, *options], stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
