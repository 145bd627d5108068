"""What goes into the Debian packages of the library: files, and that programs are built and run with them."""
import os
import re
import subprocess
import tempfile
import unittest

BUILD, CMAKE = os.environ["BUILD"], os.environ["CMAKE"]
PROJECT = """cmake_minimum_required(VERSION 3.20)
project(user {language})
find_package(cu264 REQUIRED {components})
add_executable(user user.{suffix})
target_link_libraries(user {target})
"""
PROGRAM = "#include <cu264/cu264.h>\nint main(void) { return cu264_version()[0] == 0; }\n"


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, **more)
    return done.returncode, done.stdout


class Components(unittest.TestCase):
    def setUp(self):
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = kept.name

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def install(self, *components):
        for component in components:
            status, text = run(CMAKE, "--install", BUILD, "--prefix", self.path("usr"), "--component", component)
            self.assertEqual(status, 0, text)

    def files(self):
        return sorted(os.path.relpath(os.path.join(place, name), self.path("usr"))
                      for place, _, names in os.walk(self.path("usr")) for name in names)

    def names(self):
        return {os.path.basename(name) for name in self.files()}

    def test_library(self):
        self.install("deb_library")
        names = sorted(self.names())
        self.assertEqual([name for name in names if name == "copyright"], ["copyright"])
        self.assertTrue(all(re.match(r"libcu264\.so\.\d", name) or name == "copyright" for name in names), names)
        self.assertIn("libcu264.so.0", names)

    @unittest.skipUnless(os.environ["WITH_CUDA"] == "1", "this build has no CUDA")
    def test_module(self):
        self.install("deb_cuda")
        self.assertIn("libcu264_cuda.so.0", self.names())
        self.assertNotIn("libcu264_cuda.so", self.names())

    def test_packages_share_no_file(self):
        seen = {}
        for component in ("deb_library", "deb_development") + (("deb_cuda",) if os.environ["WITH_CUDA"] == "1" else ()):
            before = set(self.files())
            self.install(component)
            for name in set(self.files()) - before:
                self.assertNotIn(name, seen)
                seen[name] = component
        self.assertGreater(len(seen), 8)

    def configure(self, language, suffix, components, target):
        os.makedirs(self.path("user"))
        with open(self.path("user/CMakeLists.txt"), "w", encoding="ascii") as file:
            file.write(PROJECT.format(language=language, suffix=suffix, components=components, target=target))
        with open(self.path("user/user." + suffix), "w", encoding="ascii") as file:
            file.write(PROGRAM)
        return run(CMAKE, "-S", self.path("user"), "-B", self.path("user/build"), "-DCMAKE_PREFIX_PATH=" + self.path("usr"))

    def test_a_c_program_is_built_and_runs(self):
        self.install("deb_library", "deb_development")
        status, text = self.configure("C", "c", "COMPONENTS c", "cu264::c")
        self.assertEqual(status, 0, text)
        status, text = run(CMAKE, "--build", self.path("user/build"))
        self.assertEqual(status, 0, text)
        self.assertEqual(run(self.path("user/build/user"))[0], 0)

    def test_a_cpp_program_is_told_what_is_missing(self):
        self.install("deb_library", "deb_development")
        status, text = self.configure("CXX", "cpp", "", "cu264::cu264")
        self.assertNotEqual(status, 0)
        self.assertIn("only the library for C programs is installed here", " ".join(text.split()))


if __name__ == "__main__":
    unittest.main()
