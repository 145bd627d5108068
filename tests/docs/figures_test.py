"""Each measured number of the site is in bench/results, and the check notices one that is not; plots find what they read."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "site"
sys.path.insert(0, str(SITE))

import result_plots  # noqa: E402


def check(*pages):
    return subprocess.run([sys.executable, "-B", str(SITE / "check_figures.py"), *map(str, pages)], stdout=subprocess.PIPE,
                          universal_newlines=True, timeout=60)


class Figures(unittest.TestCase):
    def test_numbers_are_measured(self):
        done = check()
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_notices_numbers_that_are_not(self):
        results = os.path.join(ROOT, "bench", "results")
        pages = {"in a sentence": "It has [figures](%s/encode-h200.md) and encodes 17 123 pictures a second.\n",
                 "in a link": "It encodes [17 123](%s/encode-h200.md) of them.\n",
                 "in a table": "[figures](%s/encode-h200.md)\n\n| pictures a second | 17 768 | 17 123 |\n",
                 "without a file": "It encodes 17 768 pictures a second.\n",
                 "in a file that is not there": "[17 768](%s/nothing.md)\n"}
        for name, text in pages.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                page = pathlib.Path(folder) / "page.md"
                page.write_text(text % os.path.relpath(results, folder) if "%s" in text else text, encoding="utf-8")
                self.assertEqual(check(page).returncode, 1)
                page.write_text(re.sub("17 123", "17 768", page.read_text(encoding="utf-8")), encoding="utf-8")
                if "17 123" in text:
                    self.assertEqual(check(page).returncode, 0)

    def test_plots_read_the_results(self):
        for name, plot in result_plots.PLOTS.items():
            with self.subTest(name):
                drawn, figures, files = plot()
                self.assertIn("<title>", drawn)
                for file in files:
                    self.assertTrue((ROOT / "bench" / "results" / file).is_file(), file)
                known = " ".join((ROOT / "bench" / "results" / file).read_text(encoding="utf-8") for file in files)
                known = re.sub(r"(?<=\d)[ \u202f](?=\d{3}\b)", "", known)
                # Some are percentages and roundings of what is there, most stand there as they are.
                numbers = [number.replace("\u202f", "") for number in re.findall(r"\d[\d\u202f]*(?:\.\d+)?", re.sub("cu264|x264", "", figures))]
                found = sum(number in known or "%.3f" % (float(number) / 100) in known for number in numbers)
                self.assertGreaterEqual(found, len(numbers) / 2, (name, numbers))


if __name__ == "__main__":
    unittest.main()
