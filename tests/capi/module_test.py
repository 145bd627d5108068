"""libcu264.so and its CUDA module: what they need and show, and that the library says what is wrong with a module."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

LIBRARY, SAMPLE, CC, MODULE, EMULATED = (os.environ.get(name, "") for name in ("LIBRARY", "SAMPLE", "CC", "MODULE", "EMULATED"))
NAME = "libcu264_cuda.so.0"
# A program that puts its options to the library, and prints the library's text.
PROGRAM = r"""
#include <cu264/cu264.h>
#include <stdio.h>
int main(void) { return puts(cu264_build_info()) < 0; }
"""
STRANGER = "int a_stranger;"
# A module of another build: its table begins with the text that tells.
OTHER = "static const char* const table[20] = {\"cu264 0.0.9 (gcc 4.7)\"}; const void* cu264_cuda_module(void) { return table; }"


def run(*command, **environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout


def output(*command, **environment):
    status, text = run(*command, **environment)
    assert status == 0, f"{command}: {text}"
    return text


def needed(library):
    return re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", library))


def sections(library):
    return re.findall(r"\]\s(\.\S+)", output("readelf", "-SW", library))


class Files(unittest.TestCase):
    def test_library_needs_neither_cuda_nor_libcrypto(self):
        for name in needed(LIBRARY):
            self.assertRegex(name, r"^(libc|libm|libdl|libpthread|librt|ld-linux.*|libgcc_s|libstdc\+\+|libtbb)\.so")
        # Nor has it CUDA's runtime in it, or kernels.
        self.assertIn(".text", sections(LIBRARY))
        self.assertNotIn(".nv_fatbin", sections(LIBRARY))
        self.assertNotRegex(output("nm", LIBRARY), r"\bcudaMalloc\b")

    @unittest.skipUnless(MODULE, "this build has no CUDA")
    def test_module_exports_one_function_and_needs_no_driver(self):
        lines = output("nm", "-D", "--defined-only", MODULE).splitlines()
        self.assertEqual([line.split()[-1] for line in lines], ["cu264_cuda_module"])
        self.assertIn(".nv_fatbin", sections(MODULE))
        for name in needed(MODULE):
            self.assertNotRegex(name, r"cuda|crypto|nvidia")


class Opening(unittest.TestCase):
    """Each test has a copy of the library in a folder of its own, with a module beside it or without."""

    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = kept.name
        shutil.copy(LIBRARY, self.path("libcu264.so.0"))
        self.compile("info.c", PROGRAM, "-o", self.path("info"), "-I", os.environ["INCLUDE"], self.path("libcu264.so.0"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, name, text, *options):
        with open(self.path(name), "w", encoding="ascii") as file:
            file.write(text)
        output(CC, "-x", "c", self.path(name), "-x", "none", *options)

    def module(self, text):
        self.compile("module.c", text, "-shared", "-fPIC", "-o", self.path(NAME))

    def info(self, **environment):
        environment = {"CU264_CUDA_MODULE": None, **environment}
        kept = {name: value for name, value in {**os.environ, **environment}.items() if value is not None}
        done = subprocess.run([self.path("info")], stdout=subprocess.PIPE, text=True, timeout=60, check=True,
                              env={**kept, "LD_LIBRARY_PATH": self.folder})
        self.assertEqual(len(done.stdout.splitlines()), 1)
        return done.stdout

    def error(self, **environment):
        """What the sample says when CUDA is asked for."""
        status, text = self.encode("cuda", os.devnull, **environment)
        self.assertEqual(status, 1, text)
        self.assertEqual(len(text.splitlines()), 1, text)
        return text

    def encode(self, backend, stream, **environment):
        pictures = self.path("in.gray")
        with open(pictures, "wb") as file:
            file.write(bytes((x * y + x) & 255 for y in range(3 * 48) for x in range(64)))
        return run(SAMPLE, pictures, "64x48", stream, "qp=20", f"backend={backend}", LD_LIBRARY_PATH=self.folder, **environment)

    def test_without_a_module(self):
        self.assertIn("no CUDA: there is no CUDA module here, libcu264_cuda.so.0", self.info())

    @unittest.skipUnless(SAMPLE, "the samples are not built")
    def test_without_a_module_the_cpu_encodes(self):
        self.assertIn("there is no CUDA module here", self.error())
        automatic, cpu = self.path("automatic.264"), self.path("cpu.264")
        self.assertEqual(self.encode("auto", automatic)[0], 0)
        self.assertEqual(self.encode("cpu", cpu)[0], 0)
        with open(automatic, "rb") as a, open(cpu, "rb") as b:
            self.assertEqual(a.read(), b.read())

    def test_of_another_build(self):
        self.module(OTHER)
        self.assertRegex(self.info(), r"no CUDA: the CUDA module \S+/libcu264_cuda\.so\.0 is of another build, cu264 0\.0\.9 \(gcc 4\.7\); "
                                      r"this library is cu264 \d+\.\d+\.\d+ \(")

    def test_that_is_something_else(self):
        self.module(STRANGER)
        self.assertRegex(self.info(), r"no CUDA: \S+/libcu264_cuda\.so\.0 is no CUDA module of cu264")

    def test_that_is_damaged(self):
        with open(LIBRARY, "rb") as file:
            library = file.read()
        for content in (b"", b"not a library\n", library[:5000], library[:-1000], bytes(len(library))):
            with open(self.path(NAME), "wb") as file:
                file.write(content)
            self.assertIn("no CUDA: the CUDA module cannot be opened: " + self.path(NAME), self.info())

    def test_named_in_the_environment(self):
        self.module(STRANGER)
        named = self.path("other.so")
        self.compile("other.c", OTHER, "-shared", "-fPIC", "-o", named)
        self.assertIn(f"the CUDA module {named} is of another build", self.info(CU264_CUDA_MODULE=named))
        self.assertIn("/nowhere.so: cannot open", self.info(CU264_CUDA_MODULE="/nowhere.so"))
        self.assertIn("CU264_CUDA_MODULE is empty", self.info(CU264_CUDA_MODULE=""))

    @unittest.skipUnless(MODULE, "this build has no CUDA")
    def test_of_the_same_build(self):
        os.symlink(MODULE, self.path(NAME))
        self.assertRegex(self.info(), rf"\(.*CUDA \d+\.\d+\S* for .*, from {re.escape(self.path(NAME))}, ")

    @unittest.skipUnless(MODULE and SAMPLE, "this build has no CUDA")
    def test_of_the_same_build_without_a_device(self):
        """An error of the module passes into the library as what it is."""
        os.symlink(MODULE, self.path(NAME))
        status, text = self.encode("cuda", os.devnull, CUDA_VISIBLE_DEVICES="")
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"no CUDA device|no NVIDIA driver|no usable|counting the CUDA devices")
        self.assertEqual(self.encode("auto", os.devnull, CUDA_VISIBLE_DEVICES="")[0], 0)

    @unittest.skipUnless(EMULATED and SAMPLE, "there is no emulated module")
    def test_whose_kernels_run_on_the_processor_gives_the_same_bytes(self):
        cuda, cpu = self.path("cuda.264"), self.path("cpu.264")
        status, text = self.encode("cuda", cuda, CU264_CUDA_MODULE=EMULATED)
        self.assertEqual(status, 0, text)
        self.assertEqual(self.encode("cpu", cpu)[0], 0)
        with open(cuda, "rb") as a, open(cpu, "rb") as b:
            got = a.read()
            self.assertGreater(len(got), 1000)
            self.assertEqual(got, b.read())


if __name__ == "__main__":
    unittest.main()
