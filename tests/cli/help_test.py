"""Tests what is made from the options' own table: help texts, the manual page, and the completions of three shells."""
import os
import re
import shutil
import subprocess
import unittest

from support import TIMEOUT, CommandTest, main

VERBS = "encode edges protect watermark hide vle devices help".split()


class Help(CommandTest):
    def text(self, *arguments):
        return self.cu264(*arguments, overwrite=False).stdout.decode()

    def options_of(self, verb):
        return set(re.findall(r"^  (?:-\w, )?--([\w-]+)", self.text("help", verb), re.M))

    def test_help_of_a_verb(self):
        for verb in VERBS:
            self.assertEqual(self.text("help", verb), self.text(verb, "--help"))
            self.assertIn(verb, self.text("help"))
            self.assertTrue(self.options_of(verb))
        self.assertIn("did you mean encode", self.cu264("help", "encod", code=1).stderr)

    def test_lines_are_not_wide(self):
        for verb in VERBS:
            for line in self.text("help", verb).splitlines():
                self.assertLessEqual(len(line), 100, line)

    def test_manual_page(self):
        page = self.text("help", "--man")
        plain = page.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")
        for verb in VERBS:
            self.assertIn(f".SH {verb.upper()}", page)
            for option in self.options_of(verb):
                self.assertIn("--" + option, plain)
        checkers = [["mandoc", "-Tlint"], ["groff", "-man", "-Tutf8", "-ww", "-z"], ["man", "--warnings", "-l", "-"]]
        for checker in (c for c in checkers if shutil.which(c[0])):
            done = subprocess.run(checker, input=page.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT)
            complaints = done.stderr + (done.stdout if checker[0] == "mandoc" else b"")
            self.assertEqual((done.returncode, complaints), (0, b""), checker)

    def completed_by_bash(self, *words):
        script = self.text("help", "--completion", "bash") + """
          COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
          _cu264
          echo "${COMPREPLY[*]}"
        """
        return subprocess.run(["bash", "-c", script, "bash", *words], check=True, stdout=subprocess.PIPE,
                              timeout=TIMEOUT).stdout.decode().split()

    @unittest.skipUnless(shutil.which("bash"), "needs bash")
    def test_bash(self):
        self.assertEqual(self.completed_by_bash("cu264", "e"), ["encode", "edges"])
        self.assertEqual(self.completed_by_bash("cu264", "encode", "--pre"), ["--preset"])
        for words in (["--preset", ""], ["--preset", "="], ["in.mkv", "--preset", ""]):
            self.assertEqual(self.completed_by_bash("cu264", "encode", *words), ["fast", "balanced", "best"])
        self.assertEqual(self.completed_by_bash("cu264", "encode", "--preset", "=", "fa"), ["fast"])
        self.assertEqual(self.completed_by_bash("cu264", "protect", ""), ["encrypt", "decrypt", "new-key"])
        self.assertEqual(self.completed_by_bash("cu264", "help", "v"), ["vle"])
        self.assertEqual(self.completed_by_bash("cu264", "encode", "film"), [], "readline completes files")
        for verb in VERBS:
            offered = {word[2:] for word in self.completed_by_bash("cu264", verb, "--") if word.startswith("--")}
            self.assertEqual(offered, self.options_of(verb))

    def test_page_of_options(self):
        page = self.text("help", "--options")
        names = re.findall(r"^\| `([\w-]+)` \|", page, re.M)
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue({"qp", "max-frame-bytes", "slices"} <= set(names))
        self.assertEqual({line.count("|") - line.count("\\|") for line in page.splitlines() if line.startswith("|")}, {8})
        # The command has them all, in its help and so in the manual page and the completions.
        ours = {"no-deblock" if name == "deblock" else name for name in names if name not in ("input-format", "timed-bitrate")}
        self.assertLessEqual(ours, self.options_of("encode"))
        kept = os.path.join(os.path.dirname(__file__), "../../docs/options.md")
        with open(kept, encoding="utf-8") as file:
            self.assertEqual(file.read(), page, "scripts/update-options writes docs/options.md anew")

    def test_zsh_and_fish(self):
        for shell in ("zsh", "fish"):
            script = self.text("help", "--completion", shell)
            for option in self.options_of("encode"):
                self.assertIn(option, script)
            if shutil.which(shell):
                subprocess.run([shell, "-n", "/dev/stdin"], input=script.encode(), check=True, timeout=TIMEOUT)
        if shutil.which("fish"):
            script += '\ncomplete -C "cu264 encode --preset "'
            offered = subprocess.run(["fish", "-c", script], check=True, stdout=subprocess.PIPE, timeout=TIMEOUT).stdout
            self.assertEqual({line.split()[0] for line in offered.decode().splitlines()}, {"fast", "balanced", "best"})
        self.assertIn("bash, zsh or fish", self.cu264("help", "--completion", "tcsh", code=1).stderr)


if __name__ == "__main__":
    main()
