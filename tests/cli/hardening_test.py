"""The built command has the hardening that cmake/Hardening.cmake asks for."""
import shutil
import subprocess
import unittest

from support import CU264, main


@unittest.skipUnless(shutil.which("readelf"), "needs the readelf command")
class Hardening(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.elf = subprocess.run(["readelf", "--wide", "--file-header", "--program-headers", "--dynamic", "--symbols", CU264],
                                 check=True, stdout=subprocess.PIPE, text=True).stdout
        if "__asan_init" in cls.elf:
            raise unittest.SkipTest("the sanitizers' build has checks of its own")

    def test_position_independent(self):
        self.assertRegex(self.elf, r"Type: +DYN \(Position-Independent Executable|Type: +DYN")
        self.assertIn("PIE", self.elf)

    def test_relocations_are_read_only(self):
        self.assertIn("GNU_RELRO", self.elf)
        self.assertRegex(self.elf, r"BIND_NOW|FLAGS.*NOW")

    def test_stack_is_guarded_and_not_executable(self):
        self.assertIn("__stack_chk_fail", self.elf)
        self.assertRegex(self.elf, r"GNU_STACK +(0x0+ +){3}(0x0+ +){2}RW +")

    def test_copies_are_checked(self):
        self.assertRegex(self.elf, r"__(memcpy|snprintf|vsnprintf|fprintf|read|memset)_chk")


if __name__ == "__main__":
    main()
