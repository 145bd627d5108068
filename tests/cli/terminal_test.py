"""Tests what the command shows on a terminal, and what it does not. Skipped if the system has no pseudo-terminal, as in some containers."""
import fcntl
import os
import re
import struct
import subprocess
import termios
import unittest

from support import CU264, TIMEOUT, CommandTest, main, pseudo_terminal_error


@unittest.skipIf(pseudo_terminal_error(), f"no pseudo-terminal here: {pseudo_terminal_error()}")
class Terminal(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.clip("in.y4m", "testsrc2=size=176x144:rate=25", 12)

    def terminal_output(self, *options, columns=0):
        """Returns what the command writes to its stderr if that is a terminal of so many columns."""
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        command = subprocess.Popen([CU264, "encode", self.input, "-o", self.path("shown.mp4"), "-y", *options],
                                   stdin=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        text = b""
        try:
            while data := os.read(master, 4096):
                text += data
        except OSError:  # Linux reports in this way that the other side is closed
            pass
        os.close(master)
        self.assertEqual(command.wait(), 0)
        return text

    def test_progress(self):
        for options, wanted in ((["--quiet"], False), (["--progress", "off"], False), ([], True)):
            text = self.terminal_output(*options)
            self.assertEqual(bool(re.search(rb"\[ *[\d.]+%\] \d+/12 frames, [\d.]+ fps, [\d.]+ kb/s", text)), wanted, text)

    def test_progress_fits_the_terminal(self):
        for columns in (20, 40, 80):
            shown = re.findall(rb"\r([^\r\n]*)\x1b\[K", self.terminal_output(columns=columns))
            self.assertTrue(shown)
            self.assertLess(max(map(len, shown)), columns)

    def test_streams_are_not_for_terminals(self):
        stream, key = self.path("in.264"), self.path("key")
        self.encode(self.input, stream)
        self.cu264("protect", "new-key", key)
        for arguments in (["encode", self.input, "-"], ["encode", self.input, self.path("x.264"), "--recon", "-"],
                          ["edges", self.input, "-"], ["vle", "compress", self.input, "-"],
                          ["protect", "encrypt", stream, "-", "--key-file", key]):
            with self.subTest(arguments=arguments):
                master, slave = os.openpty()
                done = subprocess.run([CU264, *arguments], stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.PIPE,
                                      timeout=TIMEOUT)
                os.close(slave)
                os.close(master)
                self.assertEqual(done.returncode, 1)
                self.assertIn(b"a terminal", done.stderr)


if __name__ == "__main__":
    main()
