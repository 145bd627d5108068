"""Tests what cmake --install puts where."""
import os
import shutil
import subprocess
import unittest

from support import CU264, SANITIZED, TIMEOUT, FolderTest, main

BUILD = os.path.dirname(os.path.dirname(CU264))
IS_BUILD = shutil.which("cmake") and os.path.exists(os.path.join(BUILD, "cmake_install.cmake"))
# Takes what the compiler takes by default, as the project of a new user does.
PROJECT = """cmake_minimum_required(VERSION 3.20)
project(user CXX)
find_package(cu264 REQUIRED)
add_executable(user user.cpp)
target_link_libraries(user cu264::cu264)
"""
C_PROJECT = """cmake_minimum_required(VERSION 3.20)
project(user C)
find_package(cu264 REQUIRED COMPONENTS c)
add_executable(user user.c)
target_link_libraries(user cu264::c)
"""
FILES = """bin/cu264 include/cu264/encoder.h include/cu264/cu264.h share/man/man1/cu264.1 share/bash-completion/completions/cu264
           share/zsh/site-functions/_cu264 share/fish/vendor_completions.d/cu264.fish share/doc/cu264/LICENSE
           share/doc/cu264/README.md share/doc/cu264/CHANGELOG.md share/doc/cu264/docs/command.md""".split()


@unittest.skipUnless(IS_BUILD, f"needs cmake, and the command in its build folder: {CU264}")
@unittest.skipIf(SANITIZED, "programs that link a library with sanitizers need their options")
class Install(FolderTest):
    def test_files(self):
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.folder], check=True, timeout=TIMEOUT,
                       stdout=subprocess.DEVNULL)
        for name in FILES:
            self.assertTrue(os.path.getsize(self.path(name)) > 0, name)
        self.build_program()
        self.build_c_program()
        installed = subprocess.run([self.path("bin/cu264"), "help", "--man"], check=True, stdout=subprocess.PIPE, timeout=TIMEOUT)
        with open(self.path("share/man/man1/cu264.1"), "rb") as page:
            self.assertEqual(page.read(), installed.stdout, "the manual page is not of this build")

    def build_program(self):
        """A program that includes every public header is built with find_package."""
        self.build("user", PROJECT, "user.cpp", self.all_headers())

    def build_c_program(self):
        """The C library needs no C++ library's dependencies, with CMake or with pkg-config."""
        source = "#include <cu264/cu264.h>\nint main(void) { return cu264_version()[0] == 0; }\n"
        self.build("c_user", C_PROJECT, "user.c", source)
        subprocess.run([self.path("c_user/build/user")], check=True, timeout=TIMEOUT)
        if not shutil.which("pkg-config"):
            return
        folder = next(place for place, _, names in os.walk(self.folder) if "cu264-c.pc" in names)
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "cu264-c"], check=True, stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "PKG_CONFIG_PATH": folder}, timeout=TIMEOUT).stdout.split()
        subprocess.run(["cc", self.path("c_user/user.c"), *flags, "-o", self.path("by_flags")], check=True, timeout=TIMEOUT)
        subprocess.run([self.path("by_flags")], check=True, timeout=TIMEOUT,
                       env={**os.environ, "LD_LIBRARY_PATH": os.path.dirname(folder)})

    def all_headers(self):
        headers = sorted(name for name in os.listdir(self.path("include/cu264")) if name.endswith(".h"))
        includes = "".join(f"#include <cu264/{name}>\n" for name in headers)
        return includes + "int main() { return cu264::version()[0] == 0; }\n"

    def build(self, folder, project, name, source):
        os.makedirs(self.path(folder))
        for file_name, text in (("CMakeLists.txt", project), (name, source)):
            with open(self.path(os.path.join(folder, file_name)), "w") as file:
                file.write(text)
        for arguments in (["-S", self.path(folder), "-B", self.path(folder + "/build"), f"-DCMAKE_PREFIX_PATH={self.folder}"],
                          ["--build", self.path(folder + "/build")]):
            done = subprocess.run(["cmake", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT)
            self.assertEqual(done.returncode, 0, done.stdout.decode())


if __name__ == "__main__":
    main()
