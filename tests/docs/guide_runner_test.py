"""guides_test.py fails where a guide is wrong, and says what it did not try."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).with_name("guides_test.py")
SHOWS = "\n<!-- shows -->\n```text\n%s\n```\n"


def run(text, *options):
    with tempfile.TemporaryDirectory() as folder:
        guide = pathlib.Path(folder) / "guide.md"
        guide.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, "-B", str(RUNNER), str(guide), *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True, timeout=60, env=os.environ)


class Runner(unittest.TestCase):
    def test_right_and_wrong_guides(self):
        shell, python = "```sh\necho 1 pear\n```\n", "```python\nprint(1, 'pear')\n```\n"
        for name, text, status in (
                ("right", shell + SHOWS % "1 pear" + python + SHOWS % "1 ...", 0),
                ("other output of sh", shell + SHOWS % "2 pears", 1),
                ("other output of python", python + SHOWS % "1 pea", 1),
                ("a command that fails", "```sh\nfalse\n```\n", 1),
                ("a pipe that fails", "```sh\nfalse | true\n```\n", 1),
                ("an exception", "```python\n1 / 0\n```\n", 1),
                ("a setup that fails", "<!-- setup sh\nfalse\n-->\n" + shell, 1),
                ("nothing that runs", "<!-- setup sh\ntrue\n-->\n", 77)):
            with self.subTest(name):
                done = run(text)
                self.assertEqual(done.returncode, status, done.stdout)

    def test_what_is_missing_is_told(self):
        text = "```sh\ntrue\n```\n\n<!-- needs: no_such_package -->\n```sh\nfalse\n```\n" + SHOWS % "nothing"
        self.assertEqual(run(text).returncode, 0)
        done = run(text, "--marked")
        self.assertEqual(done.returncode, 77, done.stdout)
        self.assertIn("guide.md:5 needs no_such_package", done.stdout)


if __name__ == "__main__":
    unittest.main()
