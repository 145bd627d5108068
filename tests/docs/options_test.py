"""Each option that a page of the site names is one that the built command has, and the pages made from its tables are current."""
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("CU264", str(ROOT / "build" / "bin" / "cu264"))
PAGES = ("README.md", "docs/*.md", "docs/guides/*.md", "integrations/*/README.md")
# Of other programs, which the pages name beside ours.
OTHERS = {"--full", "--gpu", "--with-cuda", "--build", "--install", "--component", "--cflags", "--libs", "--check", "--fix", "--target",
          "--seconds", "--seed", "--case", "--serve", "--look", "--enable-libcu264", "--enable-gpl", "--cpu"}


def printed(*arguments):
    return subprocess.run([COMMAND, *arguments], check=True, stdout=subprocess.PIPE, universal_newlines=True, timeout=60).stdout


def options_of_the_command():
    verbs = ("encode", "edges", "vle", "protect", "watermark", "hide", "devices", "help")
    return {option for verb in verbs for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", printed("help", verb))} | {"--help", "--version"}


def named_options(text):
    """Options in lines of code that call cu264, and those in code by themselves that begin with two dashes."""
    for block in re.findall(r"^ *```(?:sh|text)?\n(.*?)^ *```", text, re.M | re.S):
        for line in block.replace("\\\n", " ").splitlines():
            # Each command of a pipe by itself; a comment at the end may name options of cu264 too.
            for part in re.split(r"\||&&|;", line):
                words = re.search(r"(?:^|\s|/)cu264 (?:encode|edges|vle|protect|watermark|hide)\b(.*)", part)
                yield from re.findall(r"(?<![\w-])--[a-z][\w-]*", words.group(1)) if words else ()
    for code in re.findall(r"`(--[^`\n]*)`", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)):
        yield from re.findall(r"(?<![\w-])--[a-z][\w-]*", code)


def names_of_others(text):
    """In a table of several encoders the last column alone is ours."""
    return re.sub(r"^\|(?!.*cu264 encode)(.*)\|([^|]*)\|$", lambda row: "|%s|" % row.group(2), text, flags=re.M)


class Options(unittest.TestCase):
    def test_pages_name_options_that_exist(self):
        ours, seen = options_of_the_command(), set()
        for path in sorted(path for pattern in PAGES for path in ROOT.glob(pattern)):
            text = path.read_text(encoding="utf-8")
            if path.name == "replace-x264-or-nvenc.md":
                text = names_of_others(text)
            named = set(named_options(text))
            seen |= named & ours
            with self.subTest(path.relative_to(ROOT)):
                self.assertLessEqual(named - OTHERS - PROGRAMS.get(path.name, set()), ours)
        self.assertGreater(len(seen), 50)

    def test_notices_one_that_does_not(self):
        self.assertEqual(set(named_options("```sh\ncu264 encode a.mkv b.mp4 --quality 3 | x264 --bframes 2\n```\n")), {"--quality"})
        self.assertEqual(set(named_options("Use `--quality 3`.\n")), {"--quality"})
        self.assertNotIn("--quality", options_of_the_command())

    def test_helps_are_current(self):
        kept = (ROOT / "docs" / "help.md").read_text(encoding="utf-8")
        for verb in re.findall(r"^## (\w+)$", kept, re.M):
            self.assertIn(printed("help", verb).strip(), kept, "scripts/update-options writes docs/help.md anew")


# Of python -m cu264.ray and of bench_encode.
PROGRAMS = {"clusters.md": {"--set", "--stats", "--num-gpus", "--workers"}, "ray-cluster.md": {"--set", "--num-gpus"},
            "pipeline.md": {"--json"}}


if __name__ == "__main__":
    unittest.main()
