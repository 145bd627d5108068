"""Tests what cmake --install puts where."""
import os
import shutil
import subprocess
import unittest

from support import CU264, TIMEOUT, FolderTest, main

BUILD = os.path.dirname(os.path.dirname(CU264))
IS_BUILD = shutil.which("cmake") and os.path.exists(os.path.join(BUILD, "cmake_install.cmake"))
FILES = """bin/cu264 include/cu264/encoder.h share/man/man1/cu264.1 share/bash-completion/completions/cu264
           share/zsh/site-functions/_cu264 share/fish/vendor_completions.d/cu264.fish share/doc/cu264/LICENSE
           share/doc/cu264/README.md share/doc/cu264/CHANGELOG.md share/doc/cu264/docs/command.md""".split()


@unittest.skipUnless(IS_BUILD, f"needs cmake, and the command in its build folder: {CU264}")
class Install(FolderTest):
    def test_files(self):
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.folder], check=True, timeout=TIMEOUT,
                       stdout=subprocess.DEVNULL)
        for name in FILES:
            self.assertTrue(os.path.getsize(self.path(name)) > 0, name)
        installed = subprocess.run([self.path("bin/cu264"), "help", "--man"], check=True, stdout=subprocess.PIPE, timeout=TIMEOUT)
        with open(self.path("share/man/man1/cu264.1"), "rb") as page:
            self.assertEqual(page.read(), installed.stdout, "the manual page is not of this build")


if __name__ == "__main__":
    main()
