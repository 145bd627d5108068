"""bench/reproduce writes its pages: from the programs that were built, on the processor, and, with programs that invent
their figures, what a GPU would give."""
import json
import os
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))
BINARIES = os.path.dirname(os.environ.get("CU264", ""))
PAPERS = ["pavle", "cuvle", "parle", "gvle", "gud_canny", "cavlcu"]

# Prints rows as bench_papers does, with times that follow from the size, and that are equal for all coders but for the
# factor after its name.
PROGRAM = r'''#!/usr/bin/env python3
import json, os, sys
name = os.path.basename(sys.argv[0])
FACTORS = {"pavle": 2, "cuvle_net16": 8, "gvle": 1, "yavle": 2, "exp_vlet": 1.9, "exp_gm": 1.5, "exp_reg": 1.2, "fast": 0.5,
           "cuvle": 8, "cub": 3, "pavle_gm": 4, "pavle_gm_table": 3, "pavle_sm": 2}
def row(**fields):
    print(json.dumps(fields))
if name == "bench_cavlc":
    print("a table for readers")
    print(json.dumps({"rows": [{"qp": int(qp), "cavlc_su_us": 50.0, "cavlcu_us": 10.0} for qp in sys.argv[5:]]}))
    sys.exit()
what, rest = sys.argv[1], sys.argv[2:]
if what == "--list":
    print("\n".join(["device", "vle-sweep", "vle-sweep-cpu", "vle-files", "vle-files-cpu", "vle-threads", "vle-scans", "rle-cpu",
                     "rle-sweep", "canny-quality", "canny-times", "vle-authors"]))
elif what == "device":
    row(name="Invented GPU")
elif what in ("vle-sweep", "vle-sweep-cpu"):
    for entropy in (0, 2.2, 8):
        for size in (0.25, 1):
            if what == "vle-sweep-cpu":
                row(entropy=entropy, mebibytes=size, serial_ms=100 * size, parallel_ms=20 * size)
                continue
            def one(encoder, threads, part, factor):
                row(entropy=entropy, mebibytes=size, bytes=size * 1048576, coded=1, encoder=encoder, threads=threads, part=part,
                    ms=factor * size, with_zeroing_ms=factor * size)
            one("pavle", 256, "all", 2), one("cuvle_net16", 128, "all", 8), one("cuvle_net16", 1024, "all", 4)
            one("gvle", 128, "all", 1)
            for kernel in ("gm", "gm_table", "sm", "dpt1_codes", "dpt2_codes", "dpt4_codes", "dpt8_codes", "dpt2_table",
                           "dpt4_table", "dpt8_table"):
                one("pavle_" + kernel, 256, "kernel", FACTORS.get("pavle_" + kernel, 1.5))
            for net in (1, 2, 4, 8):
                one("cuvle_net%d" % net, 128, "all", 64 / net)
elif what in ("vle-files", "vle-files-cpu", "vle-threads", "vle-scans", "vle-authors"):
    for file in ("bible.txt", "ptt5"):
        if what == "vle-authors":
            row(file=file, encoder="gvle_authors", bytes=1, coded=1, ms=1.25, with_zeroing_ms=2)
            continue
        if what == "vle-files-cpu":
            row(file=file, serial_ms=200.0, parallel_ms=50.0)
        elif what == "vle-scans":
            for scan, time in (("GVLE_scan", 1.0), ("YAVLE_scan", 1.5), ("CUVLE_scan", 60.0)):
                row(file=file, scan=scan, ms=time)
        elif what == "vle-threads":
            for threads in (32, 128, 1024):
                row(file=file, encoder="gvle", threads=threads, ms=1 + 1 / threads)
        else:
            for encoder in ("cub", "pavle", "cuvle", "yavle", "exp_vlet", "exp_gm", "exp_reg", "gvle", "fast"):
                row(file=file, encoder=encoder, bytes=1, coded=1, copy_ms=0.1, ms=FACTORS[encoder], with_zeroing_ms=9)
elif what in ("rle-cpu", "rle-sweep"):
    for run in (1, 9, 10000):
        for size in (1e4, 1e5):
            if what == "rle-cpu":
                row(run=run, symbols=size, ms=size / 1e4)
            for coder in ("PARLE", "device_encode") if what == "rle-sweep" else ():
                row(run=run, symbols=size, runs=1, coder=coder, ms=size / 1e5 / run)
elif what == "canny-quality":
    pass
elif what == "canny-times":
    for form in ("published", "library"):
        for set_name, partition in (("C0.03", "32xH"), ("C0.03", "Wx32"), ("C0.01", "32xH")):
            steps = {step: 0.01 for step in ("Gaussian", "gradient", "suppression", "SM_H", "Prob", "P(F(x))", "search", "hysteresis")}
            row(picture="pattern", width=512, height=512, set=set_name, partition=partition, form=form,
                ms=0.1 if partition == "32xH" else 0.05, transfers_ms=0.02, total_ms=0.12, **steps)
'''


class Reproduce(unittest.TestCase):
    def reproduce(self, binaries, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "bench", "reproduce"), "--binaries", binaries, "--data", "",
                                   "--output", folder, "--quick", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  universal_newlines=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            files = {}
            for name in os.listdir(folder):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    files[name] = file.read()
            return files

    def test_on_the_processor(self):
        if not os.path.exists(os.path.join(BINARIES, "bench_papers")):
            self.skipTest("bench_papers was not built")
        files = self.reproduce(BINARIES)
        for paper in PAPERS:
            self.assertIn("(%s.md)" % paper, files["README.md"])
            json.loads(files[paper + ".json"])
        self.assertIn("words made by code stand in", files["gvle.md"])
        self.assertIn("| random digits |", files["parle.md"])
        self.assertIn("<svg", files["parle-graph-9.svg"])

    def test_pages_of_a_gpu(self):
        with tempfile.TemporaryDirectory() as binaries:
            for name in ("bench_papers", "bench_cavlc"):
                path = os.path.join(binaries, name)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(PROGRAM)
                os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
            files = self.reproduce(binaries)
        for paper in PAPERS:
            self.assertIn("Invented GPU", files[paper + ".md"])
            self.assertNotIn("failed", files[paper + ".md"])
        # The paper's average, ours, the ratio of the two, and that the order differs.
        self.assertIn("| PAVLE (total) | 2.5 / 4.2 / 2.7 | 2 / 3.9 / 2.5 | 0.25 / 0.25 / 0.25 | 0.5 / 0.5 / 0.5 |", files["cuvle.md"])
        self.assertIn("The order is the other way round.", files["cuvle.md"])
        self.assertIn("| runtime, gvle over yavle | 2.57 | 2 | 0.778 |", files["gvle.md"])
        self.assertIn("| GVLE | 1.25 / 1.25 / 1.25 | 1 / 1 / 1 | 1.25 |", files["gvle.md"])
        self.assertIn("The order is the other way round.", files["gud_canny.md"])
        self.assertIn("| CAVLCU, here | 5 | 5 | 5 |", files["cavlcu.md"])
        self.assertIn("A pattern made by code stands in".lower(), files["cavlcu.md"].lower())
        self.assertEqual(json.loads(files["cavlcu.json"])["results"]["table 10"]["176x144"]["CAVLCU"]["average"], 5)

    def test_an_unknown_paper(self):
        done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "bench", "reproduce"), "--binaries", "/", "nobody"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nobody: no such paper", done.stderr)


if __name__ == "__main__":
    unittest.main()
