"""The README's chart shows the figures of bench/results, and the check notices a figure that changed."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
RESULTS = os.path.join(ROOT, "bench", "results")


def raise_fps_of_best(text):
    tables = json.loads(text)
    next(row for row in tables["beside nvJPEG"] if row["preset"] == "best")["fps"] += 100
    return json.dumps(tables)


def turn_gain_into_loss(text):
    return re.sub(r"^\| cu264 best \|.*$", lambda row: row.group().replace("-", "+"), text, flags=re.M)


class Chart(unittest.TestCase):
    def check(self, results, code):
        done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "bench", "chart.py"), "--check", "--results", results],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_shows_the_figures(self):
        self.check(RESULTS, 0)

    def test_notices_a_changed_figure(self):
        for name, change in (("encode-h200.json", raise_fps_of_best), ("cpu-rate-distortion.md", turn_gain_into_loss)):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                for file in ("encode-h200.json", "cpu-rate-distortion.md"):
                    shutil.copy(os.path.join(RESULTS, file), folder)
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = file.read()
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(change(text))
                self.assertIn("run bench/chart.py", self.check(folder, 1))


if __name__ == "__main__":
    unittest.main()
