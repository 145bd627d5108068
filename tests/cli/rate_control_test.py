"""Rate control in the command: what is refused, QPs of a file, limits that hold, buffers that do, sizes that are met."""
import json
import os
import re
import subprocess

import hrd
from support import CU264, CommandTest, QUICK, main, video_stream

# The pictures go from flat to noise and back, so that the sizes of neighbours differ by a factor of a hundred.
CUTS = ("mandelbrot=size=192x160:rate=25,format=yuv420p[a];color=black:size=192x160:rate=25,format=yuv420p[b];"
        "nullsrc=size=192x160:rate=25,format=yuv420p,geq=lum='random(1)*255':cb=128:cr=128[c];"
        "[a]trim=end_frame=20[a1];[b]trim=end_frame=15[b1];[c]trim=end_frame=15[c1];[a1][b1][c1]concat=n=3:v=1")


class RateControl(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.clip("in.y4m", "mandelbrot=size=176x144:rate=25", 12)
        cls.long = cls.clip("long.y4m", "mandelbrot=size=192x160:rate=25", 75)
        cls.cuts = cls.clip("cuts.y4m", CUTS, 50)

    def figures(self, source, name, *options, **keywords):
        """Encodes with --stats. Returns what is in that file and what the command said."""
        done = self.encode(source, "-o", self.path(name), "--stats", self.path(name + ".json"), "--preset", "fast", *options,
                           **keywords)
        with open(self.path(name + ".json")) as file:
            return json.load(file), done.stderr

    def size(self, name):
        return os.path.getsize(self.path(name))

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def test_refusals(self):
        self.refuse(1, "--qp and --crf both decide", self.input, "--qp", "20", "--crf", "20")
        self.refuse(1, "--qp and --bitrate both decide", self.input, "--qp", "20", "--bitrate", "500")
        self.refuse(1, "--crf and --bitrate both decide", self.input, "--crf", "20", "--bitrate", "500")
        self.refuse(1, "--crf and --target-size both decide", self.input, "--crf", "20", "--target-size", "50000")
        self.refuse(1, "did you mean --bitrate", self.input, "--bitrat", "500")
        self.refuse(1, "did you mean --target-size", self.input, "--targetsize", "500")
        self.refuse(1, "mp4 and mov do not allow", self.input, "--bitrate", "500", "--cbr")
        self.refuse(1, "mp4 and mov do not allow", self.input, "--frame-bytes", "5000")
        self.refuse(1, "--cbr and --frame-bytes decide the size", self.input, "--target-size", "50000", "--frame-bytes",
                    "5000", output="refused.264")

    def test_protected_clips_leave_out_no_picture(self):
        key = self.write("key", "00" * 32 + "\n")
        os.chmod(key, 0o600)
        payload = self.write("payload", "1234")
        drop = ["--max-frame-bytes", 1000, "--on-overflow", "drop", "--key-file", key]
        self.refuse(1, "encrypt or mark the finished stream", self.input, *drop, "--encrypt", "signs")
        self.refuse(1, "encrypt or mark the finished stream", self.input, *drop, "--watermark", "t1-sign", "--payload", payload)

        for limit in (["--max-frame-bytes", 5000], ["--frame-bytes", 5000], ["--bitrate", 500, "--cbr"]):
            self.refuse(1, "--authenticate adds bytes", self.input, *limit, "--encrypt", "signs", "--authenticate", "--key-file", key,
                        output="refused.264")

    def test_bad_values(self):
        for option, values in {"crf": ["-1", "52", "x", ""], "bitrate": ["-5", "x", ""], "maxrate": ["-1", "x"],
                               "bufsize": ["-1", "x"], "max-frame-bytes": ["-1", "x"], "frame-bytes": ["-1", "x"],
                               "on-overflow": ["skip"], "lookahead": ["-1", "251", "x"], "aq": ["variances"],
                               "target-size": ["0", "-1", "5MB"]}.items():
            for value in values:
                with self.subTest(option=option, value=value):
                    self.refuse(1, option if value else ".", self.input, f"--{option}={value}")

    def test_target_size_reads_files_only(self):
        with open(self.input, "rb") as pipe:
            self.refuse(1, "reads the input several times", "-", "--target-size", "50000", stdin=pipe)
        self.refuse(1, "writes the output several times", self.input, "--target-size", "50000", "--format", "h264",
                    output="-")

    def test_qp_file(self):
        qps = self.write("qps.txt", "0 I 40\n3 K 12\n\n4 i -1\n5 I\n11 I 51\n999 I 3\n")
        figures, _ = self.figures(self.input, "qps.264", "--qp", "30", "--qpfile", qps)
        self.assertEqual([picture["qp"] for picture in figures["pictures"]],
                         [40, 30, 30, 12, 30, 30, 30, 30, 30, 30, 30, 51])
        self.assertEqual([picture["mean_qp"] for picture in figures["pictures"]],
                         [picture["qp"] for picture in figures["pictures"]])
        gops = self.write("gops.txt", "3 K\n5 P 12\n7 I 40\n8 i -1\n")
        figures, _ = self.figures(self.input, "gops.264", "--qp", "30", "--gop", "0", "--backend", "cpu", "--qpfile", gops)
        self.assertEqual([picture["qp"] for picture in figures["pictures"]], [27, 30, 30, 27, 30, 12, 30, 40, 27, 30, 30, 30])
        packets = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "packet=flags", "-of", "csv=p=0", self.path("gops.264")],
                                 stdout=subprocess.PIPE, check=True).stdout.decode().split()
        self.assertEqual([number for number, flags in enumerate(packets) if "K" in flags], [0, 3, 7, 8])
        for text, said in {"0 P 30": "line 1: a picture of type P", "0 I 30\n1 B 3": "line 2: a picture of type B",
                           "0 I 52": "QP 52", "0 I -2": "QP -2", "0 X 3": "unknown type X", "I 3": "not a picture's QP",
                           "0 I x": "QP is no number", "0 I 3 4": "more than FRAME TYPE QP", "-1 I 3": "not a picture's QP",
                           "2 I 3\n2 I 4": "picture 2 again"}.items():
            with self.subTest(text=text):
                self.refuse(2, said, self.input, "--qpfile", self.write("bad.txt", text))
        self.refuse(2, "QPs cannot be read", self.input, "--qpfile", self.path("none.txt"))

    def test_crf(self):
        sizes = []
        for crf in ("17", "17.5", "23", "33"):
            figures, said = self.figures(self.input, "crf.264", "--crf", crf)
            self.assertEqual(figures["settings"]["crf"], float(crf))
            self.assertIn("mean QP", said)
            for picture in figures["pictures"]:
                self.assertTrue(picture["qp"] <= picture["mean_qp"] < picture["qp"] + 1.001, picture)
            sizes.append(self.size("crf.264"))
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.encode(self.input, "-o", self.path("off.264"), "--crf", "23", "--aq", "off", "--preset", "fast", "--verify")
        self.encode(self.input, "-o", self.path("on.264"), "--crf", "23", "--preset", "fast", "--verify")
        self.assertNotEqual(self.size("off.264"), self.size("on.264"))

    def check_buffer(self, name, figures, runs_full=False):
        """The independent analyser finds no fault, and its fullness is the one that --stats says. After pictures so small that the
        buffer runs full, a decoder lets the next ones begin to arrive later than --stats does, and has less until they leave."""
        units = hrd.traced(self.path(name))
        self.assertEqual([unit["bytes"] for unit in units], [picture["bytes"] for picture in figures["pictures"]])
        buffer = hrd.Buffer(units)
        self.assertEqual(buffer.faults, [])
        self.assertIsNotNone(buffer.fullness[len(units) // 3])
        for index, picture in enumerate(figures["pictures"]):
            if buffer.fullness[index] is None:
                break
            surplus = picture["buffer_bits"] - buffer.fullness[index]
            self.assertGreaterEqual(surplus, -buffer.rate / 90000 - 64, f"picture {index}")
            if not runs_full:
                self.assertLessEqual(surplus, buffer.rate / 90000 + 64, f"picture {index}")
        return buffer

    def test_bitrate_within_a_buffer(self):
        # Who looks ahead may leave more unspent before a rich scene than the buffer has room for.
        for source, rate, lookahead in ((self.long, 1600, 0), (self.long, 1600, 40), (self.cuts, 2400, 0), (self.cuts, 2400, 40)):
            figures, said = self.figures(source, "vbr.264", "--bitrate", rate, "--lookahead", lookahead)
            buffer = self.check_buffer("vbr.264", figures, runs_full=source == self.cuts or lookahead > 0)
            self.assertEqual((buffer.rate, buffer.size, buffer.cbr), (rate * 1000, rate * 1000, False))
            self.assertIn("mean QP", said)
        figures, _ = self.figures(self.cuts, "vbr.264", "--bitrate", 1600, "--maxrate", 2400, "--bufsize", 1600)
        buffer = self.check_buffer("vbr.264", figures, runs_full=True)
        self.assertEqual((buffer.rate, buffer.size), (2400000, 1600000))

    def test_constant_bitrate(self):
        for source in (self.long, self.cuts):
            figures, _ = self.figures(source, "cbr.264", "--bitrate", 2000, "--cbr")
            buffer = self.check_buffer("cbr.264", figures)
            self.assertTrue(buffer.cbr)
            # What has arrived at the end is what the rate gives, but for what the buffer still holds.
            bits = 8 * self.size("cbr.264")
            self.assertLessEqual(abs(bits - buffer.rate * float(buffer.seconds)), buffer.size)
            decoded = subprocess.run(["ffmpeg", "-v", "error", "-i", self.path("cbr.264"), "-f", "null", "-"],
                                     stderr=subprocess.PIPE, check=True)
            self.assertEqual(decoded.stderr, b"")

    def test_buffers_hold_with_p_pictures(self):
        """Never an underflow, and with a constant rate no overflow, whatever the GOP, also where scenes begin GOPs."""
        for g, gop in enumerate((8, 30, 0)):
            for o, options in enumerate((["--bitrate", 800], ["--bitrate", 800, "--lookahead", 0, "--scenecut"],
                                         ["--bitrate", 1000, "--cbr", "--scenecut"],
                                         ["--bitrate", 600, "--maxrate", 1200, "--bufsize", 800], ["--crf", 20, "--maxrate", 1500])):
                if QUICK and (g + o) % 3 != 0:  # all of each are left
                    continue
                with self.subTest(gop=gop, options=options):
                    figures, _ = self.figures(self.cuts, "gop.264", "--gop", gop, "--backend", "cpu", "--verify", *options)
                    self.check_buffer("gop.264", figures, runs_full=True)

    def test_bitrates_are_met_with_p_pictures(self):
        source = self.clip("plane.y4m", "mandelbrot=size=192x160:rate=25:end_scale=0.05", 200)
        for gop in (0,) if QUICK else (8, 0):
            figures, _ = self.figures(source, "rate.264", "--gop", gop, "--backend", "cpu", "--bitrate", 500)
            self.assertLess(abs(8 * self.size("rate.264") / 8 / 500000 - 1), 0.02)

    def test_no_picture_exceeds_its_bytes(self):
        for limit in (4000, 9000):
            for options in (["--qp", "10"], ["--crf", "5"], ["--bitrate", "6000"]):
                with self.subTest(limit=limit, options=options):
                    figures, _ = self.figures(self.cuts, "cap.264", "--max-frame-bytes", limit, *options)
                    self.assertLessEqual(max(picture["bytes"] for picture in figures["pictures"]), limit)
                    self.assertGreater(max(picture["bytes"] for picture in figures["pictures"]), limit * 0.9)

    def test_every_picture_has_its_bytes(self):
        figures, _ = self.figures(self.cuts, "exact.264", "--frame-bytes", 9000)
        self.assertEqual({picture["bytes"] for picture in figures["pictures"]}, {9000})
        self.assertEqual({unit["bytes"] for unit in hrd.traced(self.path("exact.264"))}, {9000})

    def test_what_cannot_be_is_said_and_what_was_written_is_complete(self):
        path = self.path("ends.264")
        done = self.encode(self.cuts, "-o", path, "--preset", "fast", "--max-frame-bytes", "600", "--qp", "40", code=4)
        self.assertRegex(done.stderr, r"^cu264: error: picture 0\b.*\n$")
        self.assertFalse(os.path.exists(path))
        black_first = self.clip("black.y4m", CUTS.replace("[a1][b1][c1]", "[b1][a1][c1]"), 50)
        done = self.encode(black_first, "-o", path, "--preset", "fast", "--max-frame-bytes", "600", "--qp", "40", code=4)
        self.assertRegex(done.stderr, r"^cu264: error: picture 15\b.*has the 15 pictures before it\n$")
        self.assertEqual(len(hrd.traced(path)), 15)
        figures, said = self.figures(black_first, "dropped.264", "--max-frame-bytes", "600", "--qp", "40", "--on-overflow",
                                     "drop")
        self.assertEqual(figures["totals"]["dropped"] + figures["totals"]["frames"], 50)
        self.assertGreaterEqual(figures["totals"]["dropped"], 15)
        self.assertIn(f"{figures['totals']['dropped']} dropped", said)

    def test_a_stream_that_begins_with_pictures_left_out_is_decodable(self):
        noise_first = self.clip("noise.y4m", "nullsrc=s=192x160:r=25,geq=lum='if(lt(N,3),random(1)*255,100)':cb=128:cr=128", 20)
        for options in ([], ["--bitrate", 200]):
            for headers in ("first", "every"):
                with self.subTest(headers=headers, options=options):
                    figures, _ = self.figures(noise_first, "drop.264", "--max-frame-bytes", 1000, "--on-overflow", "drop",
                                              "--headers", headers, *options)
                    self.assertEqual((figures["totals"]["frames"], figures["totals"]["dropped"]), (17, 3))
                    self.assertLessEqual(max(unit["bytes"] for unit in hrd.traced(self.path("drop.264"))), 1000)
                    self.assertEqual(int(video_stream(self.path("drop.264"))["nb_read_packets"]), 17)
                    decoded = subprocess.run(["ffmpeg", "-v", "error", "-i", self.path("drop.264"), "-f", "framemd5", "-"],
                                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
                    self.assertEqual(decoded.stderr, b"")
                    self.assertEqual(sum(not line.startswith(b"#") for line in decoded.stdout.splitlines()), 17)
                    if options:
                        self.assertEqual(hrd.Buffer(hrd.traced(self.path("drop.264"))).faults, [])

    def test_target_size(self):
        sound = self.path("sound.mkv")
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", self.long, "-f", "lavfi", "-i", "sine=440", "-t", "3", "-c:v",
                        "ffv1", "-c:a", "aac", sound], check=True, stdin=subprocess.DEVNULL)
        for name, source, target in (("size.264", self.long, 300000), ("size.mp4", sound, 500000),
                                     ("size.mkv", sound, 150000)):
            with self.subTest(name=name):
                done = self.encode(source, "-o", self.path(name), "--preset", "fast", "--target-size", target)
                self.assertLessEqual(self.size(name), target)
                self.assertGreaterEqual(self.size(name), 0.995 * target, done.stderr)
                self.assertRegex(done.stderr, r"crf [\d.]+ found in 2 passes, 0\.\d\d % below \d+ bytes")
        done = self.encode(self.long, "-o", self.path("gop.264"), "--preset", "fast", "--target-size", 150000, "--gop", 25, "--backend",
                           "cpu")
        self.assertLessEqual(self.size("gop.264"), 150000)
        self.assertGreaterEqual(self.size("gop.264"), 0.995 * 150000, done.stderr)
        self.refuse(4, "more than --target-size", self.long, "--target-size", "1000", output="refused.264")

    def test_target_size_measures_first(self):
        """The first pass is fast and the second one is not; the crf hardly moves, and threads do not matter."""
        stats = self.path("size.json")
        made = set()
        for threads in (1, 2):
            said = self.encode(self.long, "-o", self.path("size.264"), "--preset", "balanced", "--target-size", 200000, "--verbose",
                               "--profile", "high", "--threads", threads, "--stats", stats).stderr
            with open(stats) as file:
                figures = json.load(file)
            self.assertRegex(said, r"pass 1 \(fast\): crf")
            self.assertEqual(figures["settings"]["preset"], "balanced")
            crfs = re.search(r"pass 2: crf ([\d.]+) to ([\d.]+), in the second half ([\d.]+) to ([\d.]+), takes (\d+) bytes", said)
            self.assertEqual(int(crfs[5]), self.size("size.264"))
            self.assertLess(float(crfs[2]) - float(crfs[1]), 2)
            qps = [picture["mean_qp"] for picture in figures["pictures"]]
            self.assertLess(abs(qps[-1] - qps[-2]), 1.5, "the last picture is as the others")
            with open(self.path("size.264"), "rb") as file:
                made.add(file.read())
        self.assertEqual(len(made), 1)

    def test_help_names_the_options(self):
        text = subprocess.run([CU264, "encode", "--help"], stdout=subprocess.PIPE, check=True).stdout.decode()
        for option in ("crf bitrate maxrate bufsize cbr max-frame-bytes frame-bytes on-overflow aq qpfile target-size").split():
            self.assertIn("--" + option, text)


if __name__ == "__main__":
    main()
