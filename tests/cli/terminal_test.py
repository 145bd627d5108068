"""What the command shows on a terminal. Skipped if the system has no pseudo-terminal, as in some containers."""
import os
import re
import subprocess
import unittest

from support import CU264, CommandTest, main


def pseudo_terminal_error():
    try:
        for descriptor in os.openpty():
            os.close(descriptor)
    except OSError as error:
        return str(error)
    return None


@unittest.skipIf(pseudo_terminal_error(), f"no pseudo-terminal here: {pseudo_terminal_error()}")
class Terminal(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.clip("in.y4m", "testsrc2=size=176x144:rate=25", 12)

    def terminal_output(self, *options):
        """What the command writes to its stderr if that is a terminal."""
        master, slave = os.openpty()
        command = subprocess.Popen([CU264, "encode", self.input, "-o", self.path("shown.mp4"), *options],
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


if __name__ == "__main__":
    main()
