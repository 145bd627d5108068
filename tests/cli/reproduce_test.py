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
           "cuvle": 8, "cub": 3, "pavle_gm": 4, "pavle_gm_table": 3, "pavle_sm": 2, "pavle_sm64": 2.5}
FACTORS.update({name + "_tuned": FACTORS[name] / 2 for name in ("yavle", "exp_vlet", "exp_gm", "exp_reg", "gvle")})
def row(**fields):
    print(json.dumps(fields))
if name == "bench_cavlc":
    print(sys.argv[1] + ": a table for readers")
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
            one("pavle", 256, "all", 2), one("pavle", 256, "kernel", 1.5), one("cuvle_net16", 128, "all", 8), one("cuvle_net16", 1024, "all", 4)
            one("gvle", 128, "all", 1)
            for kernel in ("gm", "gm_table", "gm_texture", "sm", "sm_texture", "sm64", "sm64_table", "scan", "scan_dpt4", "dpt1_codes", "dpt2_codes", "dpt4_codes", "dpt8_codes", "dpt2_table",
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
            for encoder in ("cub", "pavle", "cuvle", "yavle", "exp_vlet", "exp_gm", "exp_reg", "gvle", "yavle_tuned", "exp_vlet_tuned",
                            "exp_gm_tuned", "exp_reg_tuned", "gvle_tuned", "fast"):
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
            steps = {step: 0.01 for step in ("gauss_x", "gauss_y", "gradient", "suppression", "SM_H", "Prob", "P(F(x))", "search",
                                           "fallback", "hysteresis")}
            row(picture="pattern", width=512, height=512, set=set_name, partition=partition, form=form,
                ms=0.1 if partition == "32xH" else 0.05, transfers_ms=0.02, total_ms=0.12, **steps)
'''


# Counts for each metric as NVIDIA's ncu prints them, by the encoder or the kernel that is counted.
NCU = r'''#!/usr/bin/env python3
import sys
metrics = sys.argv[sys.argv.index("--metrics") + 1].split(",")
counts = {"yavle": 250, "exp_vlet": 200, "exp_gm": 220, "exp_reg": 110, "gvle": 100}
rows = [("gvle_kernel", counts[sys.argv[sys.argv.index("--once") + 1].replace("_tuned", "")])] if "--once" in sys.argv else [
    ("forward_scan", 5), ("backward_scan", 15), ("code_component", 5), ("cavlcu", 10)]
print('"ID","Kernel Name",' + ",".join('"%s"' % metric for metric in metrics))
for number, (kernel, value) in enumerate(rows):
    print('"%d","%s",' % (number, kernel) + ",".join('"%d"' % value for metric in metrics))
'''


def write_program(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


class Reproduce(unittest.TestCase):
    def reproduce(self, binaries, *arguments, path=None):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "bench", "reproduce"), "--binaries", binaries, "--data", "",
                                   "--output", folder, "--quick", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  universal_newlines=True, timeout=120,
                                  env={**os.environ, "PATH": (path + os.pathsep if path else "") + os.environ["PATH"]})
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
                write_program(os.path.join(binaries, name), PROGRAM)
            write_program(os.path.join(binaries, "ncu"), NCU)
            files = self.reproduce(binaries, path=binaries)
        for paper in PAPERS:
            self.assertIn("Invented GPU", files[paper + ".md"])
            self.assertIn("Made by `python3 bench/reproduce --binaries .../", files[paper + ".md"])
            self.assertIn("commit of the sources: ", files[paper + ".md"])
            self.assertIn("## Inputs", files[paper + ".md"])
            self.assertEqual(sorted(json.loads(files[paper + ".json"])["made"]), ["command", "commit", "inputs", "machine"])
            self.assertNotIn("failed", files[paper + ".md"])
        # The paper's average, ours, the ratio of the two, and that the order differs.
        self.assertIn("| PAVLE (total) | 2.5 / 4.2 / 2.7 | 2 / 3.9 / 2.5 | 0.25 / 0.25 / 0.25 | 0.5 / 0.5 / 0.5 |", files["cuvle.md"])
        self.assertIn("The order is the other way round.", files["cuvle.md"])
        self.assertIn("| runtime, gvle over yavle | 2.57 | 2 | 0.778 |", files["gvle.md"])
        self.assertIn("| GVLE | 1.25 / 1.25 / 1.25 | 1 / 1 / 1 | 1.25 |", files["gvle.md"])
        # Reductions and atomic operations together, and what changes places.
        self.assertIn("| global reduction and atomic transactions, gvle over yavle | 12.5 | 2.5 | 0.2 |", files["gvle.md"])
        self.assertIn("EXP_VLET and EXP_GM change places.", files["gvle.md"])
        # The tuned forms have tables of their own, and a comparison with the published ones.
        self.assertIn("| tuned forms, table 6, improvement |", files["gvle.md"])
        self.assertIn("| exp_reg | 1.2 / 1.2 / 1.2 | 0.6 / 0.6 / 0.6 | 2 / 2 / 2 |", files["gvle.md"])
        # PAVLE's sm64huff, its table in texture memory and its scan.
        self.assertIn("| sm64huff / sm32 (\"slightly lower\" performance) |  | 1.25 |  |", files["pavle.md"])
        self.assertIn("what texture memory saves gm32", files["pavle.md"])
        self.assertIn("| scan, DPT 4 / scan |", files["pavle.md"])
        # The steps of tables 4 and 5 apart, with their extremes, and the statistics of all pictures.
        self.assertIn("| gauss_y | 3.17 | 11.1 | 3.51 |", files["gud_canny.md"])
        self.assertIn("| minimum share of a step, C0.03 |", files["gud_canny.md"])
        self.assertIn("The fallback takes 11.1 / 11.1 / 11.1 % of the paper's steps", files["gud_canny.md"])
        self.assertIn("| C0.01, all, kernels, ms |", files["gud_canny.md"])
        self.assertIn("CAVLC_SU 0.0374 and CAVLCU 0.00374 here; 8.04 and 3.13 in the paper", files["cavlcu.md"])
        self.assertIn("| executed instructions, the paper on Maxwell | 2.3 | 10 | 4.35 |", files["cavlcu.md"])
        self.assertIn("- pattern_176x144: 2 of its 2 pictures of 176x144\n", files["cavlcu.md"])
        self.assertIn("The order is the other way round.", files["gud_canny.md"])
        self.assertIn("| CAVLCU, here | 5 | 5 | 5 |", files["cavlcu.md"])
        self.assertIn("A pattern made by code stands in".lower(), files["cavlcu.md"].lower())
        self.assertEqual(json.loads(files["cavlcu.json"])["results"]["table 10"]["176x144"]["CAVLCU"]["average"], 5)
        self.assertIn("frame0_176x144.yuv: a table for readers", files["record.json"])
        self.assertFalse(tempfile.gettempdir() + os.sep in files["record.json"], "the record names folders of this machine")

    def test_a_record_keeps_other_papers(self):
        with tempfile.TemporaryDirectory() as folder:
            def run(*arguments, code=0):
                done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "bench", "reproduce"), "--data", "", "--quick", *arguments],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=60, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                return done.stderr

            def text(*names):
                with open(os.path.join(folder, *names), encoding="utf-8") as file:
                    return file.read()

            program, first, again = (os.path.join(folder, name) for name in ("bench_papers", "first", "again"))
            write_program(program, PROGRAM)
            run("pavle", "parle", "--binaries", folder, "--output", first)
            pages = {name: text("first", name) for name in ("pavle.md", "pavle.json")}
            write_program(program, PROGRAM.replace("Invented GPU", "Another GPU"))
            run("parle", "--binaries", folder, "--output", first)
            record = os.path.join(first, "record.json")
            run("pavle", "parle", "--replay", record, "--output", again)
            self.assertEqual(pages, {name: text("again", name) for name in pages})
            self.assertIn("Invented GPU", pages["pavle.md"])
            self.assertIn("Another GPU", text("again", "parle.md"))
            self.assertEqual(text("first", "parle.md"), text("again", "parle.md"))
            self.assertIn("has nothing of gvle", run("gvle", "--replay", record, "--output", again, code=1))
            with open(record, "w", encoding="utf-8") as file:
                file.write("{")
            self.assertIn("cannot read", run("pavle", "--replay", record, "--output", again, code=1))
            self.assertIn("cannot read", run("pavle", "--binaries", folder, "--output", first, code=1))

    def test_a_real_clip_before_one_that_was_scaled(self):
        sys.path.insert(0, os.path.join(ROOT, "bench", "reproduce"))
        from inputs import Inputs  # pylint: disable=import-outside-toplevel
        with tempfile.TemporaryDirectory() as folder:
            for name in ("city_derived", "foreman"):
                with open(os.path.join(folder, name + "_16x16.yuv"), "wb") as clip:
                    clip.write(bytes(5 * 384))
            inputs = Inputs(folder, os.path.join(folder, "work"), 3)
            self.assertEqual(inputs.clip("16x16", "mother")[1], "foreman")
            path, name = inputs.clip("16x16", "city")
            self.assertEqual(name, "city_derived")
            self.assertEqual(len(inputs.single_frames(path, "16x16")), 3)
            self.assertEqual(inputs.used, ["city_derived_16x16: 3 of its 5 pictures of 16x16"])

    def test_an_unknown_paper(self):
        done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "bench", "reproduce"), "--binaries", "/", "nobody"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn("nobody: no such paper", done.stderr)


class Script(unittest.TestCase):
    """scripts/reproduce with commands that only say how they were called."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name in ("cmake", "python3"):
            self.fake(name, 'echo "$(basename "$0") $*"')
        self.fake("dpkg-query", "printf installed")
        self.fake("apt-get", "exit 1")
        self.fake("nvidia-smi", "echo NVIDIA-SMI has failed; exit 9")

    def fake(self, name, line):
        write_program(os.path.join(self.folder, name), "#!/bin/sh\n%s\n" % line)

    def run_script(self, *arguments, code=0, **environment):
        kept = {name: value for name, value in os.environ.items() if name not in ("CU264_CUDA", "CU264_TEST_DATA")}
        done = subprocess.run([os.path.join(ROOT, "scripts", "reproduce"), *arguments], stdin=subprocess.DEVNULL,
                              env={**kept, "PATH": self.folder + os.pathsep + os.environ["PATH"], **environment},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_cuda_is_built_where_there_is_a_gpu(self):
        without = self.run_script("gvle", "--quick")
        self.assertIn("-DCU264_CUDA=OFF -DCU264_CUDA_ARCHITECTURES= ", without.stdout)
        self.assertIn("there is no GPU here", without.stderr)
        self.assertIn("--command scripts/reproduce gvle --quick --binaries ", without.stdout)
        self.assertIn("-DCU264_CUDA=ON ", self.run_script(CU264_CUDA="ON").stdout)
        self.fake("nvidia-smi", "echo 9.0")
        self.assertIn("-DCU264_CUDA=AUTO -DCU264_CUDA_ARCHITECTURES=90 ", self.run_script().stdout)

    def test_the_authors_folders(self):
        authors = os.path.join(self.folder, "authors")
        os.mkdir(authors)
        self.assertIn("has no GVLE_kernel.h", self.run_script("--authors-gvle", authors, code=1).stderr)
        self.assertIn("is not the authors' folder", self.run_script("--authors-gap-arrays", code=1).stderr)
        with open(os.path.join(authors, "GVLE_kernel.h"), "w", encoding="utf-8"):
            pass
        for option in (["--authors-gvle", authors], ["--authors-gvle=" + authors]):
            built = self.run_script(*option).stdout
            self.assertIn("-DCU264_GVLE_ROOT=%s -DCU264_GAP_ARRAYS_ROOT=\n" % os.path.realpath(authors), built)
        self.assertIn("do not go with --binaries", self.run_script("--authors-gvle", authors, "--binaries", "/", code=1).stderr)

    def test_help(self):
        for arguments in (["--help"], ["gvle", "-h"]):
            text = self.run_script(*arguments).stdout
            for word in ("Inputs:", "GPU:", "ncu", "Time:", "--authors-gvle"):
                self.assertIn(word, text)
            self.assertNotIn("source ", text)


if __name__ == "__main__":
    unittest.main()
