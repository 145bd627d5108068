"""The README's links lead somewhere, it has the two commands that a clone is tried with, and it stays short."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


class Readme(unittest.TestCase):
    def test_links_lead_somewhere(self):
        links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", README)
        self.assertGreater(len(links), 20)
        for link in links:
            self.assertTrue((ROOT / link).exists(), link)

    def test_install_has_the_two_commands(self):
        install = README.split("\n## Install\n")[1].split("\n## ")[0]
        for command in ("./scripts/demo", "./scripts/test"):
            self.assertRegex(install, "(?m)^%s" % re.escape(command))

    def test_is_two_screens(self):
        self.assertLess(README.count("\n"), 110)


if __name__ == "__main__":
    unittest.main()
