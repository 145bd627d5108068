"""--recon, --psnr, --ssim, --verify, --stats and --quiet, and options that must not change the bytes."""
import json
import re
import subprocess

from support import CommandTest, decoded_md5, ffmpeg, main, video_stream


class Reports(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.clip("in.y4m", "mandelbrot=size=176x144:rate=25", 12)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_reconstruction_is_what_ffmpeg_decodes(self):
        for options in (["--qp", "20"], ["--qp", "40", "--preset", "fast"], ["--slices", "3"], ["--no-deblock"]):
            with self.subTest(options=options):
                out, recon = self.path("out.mp4"), self.path("recon.yuv")
                self.encode(self.input, "-o", out, "--recon", recon, *options)
                raw = ["-f", "rawvideo", "-s", "176x144", "-pix_fmt", "yuv420p"]
                self.assertEqual(decoded_md5(recon, *raw), decoded_md5(out))

    def filter_figures(self, name, out):
        """The figures of FFmpeg's filter for each picture of the coded file, compared with the input."""
        log = self.path(name + ".log")
        ffmpeg("-i", out, "-i", self.input, "-lavfi", f"[0:v][1:v]{name}=stats_file={log}", "-f", "null", "-")
        with open(log) as file:
            return [dict(re.findall(r"(\w+):([\d.]+|inf)", line)) for line in file]

    def test_psnr_and_ssim_are_those_of_ffmpeg(self):
        out, stats = self.path("quality.264"), self.path("quality.json")
        done = self.encode(self.input, "-o", out, "--psnr", "--ssim", "--stats", stats, "--qp", "33")
        with open(stats) as file:
            figures = json.load(file)
        psnr, ssim = self.filter_figures("psnr", out), self.filter_figures("ssim", out)
        self.assertEqual((len(figures["pictures"]), len(psnr), len(ssim)), (12, 12, 12))
        for index, picture in enumerate(figures["pictures"]):
            for ours, theirs in (("y", "psnr_y"), ("u", "psnr_u"), ("v", "psnr_v"), ("average", "psnr_avg")):
                self.assertAlmostEqual(picture["psnr"][ours], float(psnr[index][theirs]), delta=0.0051,
                                       msg=f"PSNR {ours} of picture {index}")
            self.assertAlmostEqual(picture["ssim"], float(ssim[index]["Y"]), delta=1e-4, msg=f"SSIM of picture {index}")
        mean = sum(float(line["Y"]) for line in ssim) / len(ssim)
        self.assertAlmostEqual(figures["totals"]["ssim"], mean, delta=1e-4)
        printed = re.search(r"PSNR ([\d.]+) dB .*SSIM ([\d.]+)", done.stderr)
        self.assertAlmostEqual(float(printed[1]), figures["totals"]["psnr"]["average"], delta=0.0051)
        self.assertAlmostEqual(float(printed[2]), mean, delta=1e-4)

    def test_statistics(self):
        stats, out = self.path("stats.json"), self.path("stats.264")
        self.encode(self.input, "-o", out, "--stats", stats, "--qp", "31", "--preset", "fast", "--slices", "2")
        with open(stats) as file:
            figures = json.load(file)
        self.assertEqual((figures["settings"]["qp"], figures["settings"]["preset"], figures["settings"]["slices"]),
                         (31, "fast", 2))
        self.assertEqual(figures["backend"], "cpu")
        self.assertTrue(figures["backend_reason"])
        self.assertEqual([picture["index"] for picture in figures["pictures"]], list(range(12)))
        self.assertEqual([picture["pts"] for picture in figures["pictures"]], list(range(12)))
        self.assertEqual(sum(picture["bytes"] for picture in figures["pictures"]), len(self.read("stats.264")))
        self.assertEqual(figures["totals"]["bytes"], len(self.read("stats.264")))
        for picture in figures["pictures"]:
            self.assertEqual(picture["intra4x4_mbs"] + picture["intra8x8_mbs"] + picture["intra16x16_mbs"] +
                             picture["pcm_mbs"], 11 * 9)
            self.assertEqual(picture["qp"], 31)
            bits = picture["header_bits"] + picture["residual_bits"]
            self.assertTrue(0 < bits <= 8 * picture["bytes"], f"{bits} bits in {picture['bytes']} bytes")

    def test_the_same_bytes_for_any_thread_count_and_report(self):
        self.encode(self.input, "-o", self.path("one.264"), "--threads", "1")
        self.encode(self.input, "-o", self.path("three.264"), "--threads", "3")
        self.encode(self.input, "-o", self.path("all.264"), "--psnr", "--ssim", "--verify", "--recon", self.path("x.yuv"))
        self.assertTrue(self.read("one.264") == self.read("three.264"), "--threads changed the bytes")
        self.assertTrue(self.read("one.264") == self.read("all.264"), "a report changed the bytes")

    def test_summary_and_quiet(self):
        done = self.encode(self.input, "-o", self.path("said.mp4"), "--verify")
        self.assertRegex(done.stderr, r"^cu264: 12 frames of 176x144 in [\d.]+ s: [\d.]+ fps, [\d.]+ kb/s, backend cpu "
                                      r"\(.+\), verified\n$")
        self.assertEqual(self.encode(self.input, "-o", self.path("said.mp4"), "--quiet").stderr, "")

    def test_lossless_pictures(self):
        flat = self.clip("flat.y4m", "color=gray:size=64x64:rate=25", 3)
        done = self.encode(flat, "-o", self.path("flat.264"), "--psnr", "--ssim", "--stats", self.path("flat.json"))
        self.assertIn("PSNR infinite dB", done.stderr)
        with open(self.path("flat.json")) as file:
            self.assertIsNone(json.load(file)["totals"]["psnr"]["average"])

    def test_odd_sides(self):
        odd = self.clip("odd.y4m", "mandelbrot=size=97x61:rate=25", 3)
        done = self.encode(odd, "-o", self.path("odd.mp4"), "--verify", "--psnr", "--ssim")
        self.assertRegex(done.stderr, "note: width 97 .*\n.*note: height 61 .*\n.* of 98x62")
        stream = video_stream(self.path("odd.mp4"))
        self.assertEqual((stream["width"], stream["height"]), (98, 62))


class Pixels(CommandTest):
    """Pixel formats and colours are converted or kept."""

    def source(self, name, pixel_format, *tags):
        path = self.path(name)
        ffmpeg("-f", "lavfi", "-i", "smptebars=size=128x96:rate=25", "-frames:v", "2", "-pix_fmt", pixel_format, *tags,
               "-c:v", "ffv1", path)
        return path

    def test_formats(self):
        for pixel_format in "yuv420p nv12 gray yuv422p yuv444p yuv420p10le yuv444p16le rgb24 bgra gray16le yuva420p".split():
            with self.subTest(pixel_format=pixel_format):
                raw = self.path("in.yuv")
                ffmpeg("-f", "lavfi", "-i", "testsrc2=size=66x50:rate=25", "-frames:v", "2", "-pix_fmt", pixel_format, "-f",
                       "rawvideo", raw)
                done = self.encode(raw, "--size", "66x50", "--pix-fmt", pixel_format, "-o", self.path("out.mp4"),
                                   "--verify", "--psnr", "--qp", "10")
                self.assertGreater(float(re.search(r"PSNR ([\d.]+)", done.stderr)[1]), 40)
                unconverted = pixel_format in ("yuv420p", "nv12", "gray")
                self.assertEqual("converted from" in done.stderr, not unconverted, done.stderr)
                more_than_8_bits = pixel_format.endswith("le")
                self.assertEqual("bits to 8" in done.stderr, more_than_8_bits, done.stderr)

    def mean_rgb(self, path):
        """The mean of each component of the decoded video as RGB."""
        pixels = ffmpeg("-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-vf", "scale=out_range=pc", "-",
                        stdout=subprocess.PIPE).stdout
        return [sum(pixels[c::3]) / (len(pixels) / 3) for c in range(3)]

    def test_rgb_keeps_its_colours(self):
        for size, matrix in (("320x240", "smpte170m"), ("1280x720", "bt709")):
            with self.subTest(size=size):
                source = self.path("red.png")
                ffmpeg("-f", "lavfi", "-i", f"color=0xC83C14:size={size}", "-frames:v", "1", source)
                out = self.path("red.mp4")
                self.encode(source, "-o", out, "--qp", "5")
                stream = video_stream(out)
                self.assertEqual((stream["color_space"], stream["color_range"]), (matrix, "tv"))
                for ours, wanted in zip(self.mean_rgb(out), (0xC8, 0x3C, 0x14)):
                    self.assertAlmostEqual(ours, wanted, delta=4)

    def test_tags_are_kept(self):
        # FFmpeg 7 takes the colours of an output from its filters, FFmpeg 5 from its options.
        tags = ["-vf", "format=yuv420p,setparams=colorspace=bt2020nc:color_primaries=bt2020:color_trc=smpte2084:range=pc",
                "-colorspace", "bt2020nc", "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-color_range", "pc"]
        source = self.source("tagged.mkv", "yuv420p", *tags)
        for out in ("tagged.mp4", "tagged_out.mkv", "tagged.264"):
            with self.subTest(out=out):
                self.encode(source, "-o", self.path(out))
                stream = video_stream(self.path(out))
                self.assertEqual([stream.get(k) for k in ("color_space", "color_primaries", "color_transfer", "color_range")],
                                 ["bt2020nc", "bt2020", "smpte2084", "pc"])

    def test_full_range_stays_full_range(self):
        source = self.path("full.mkv")
        ffmpeg("-f", "lavfi", "-i", "smptebars=size=128x96:rate=25", "-frames:v", "1", "-pix_fmt", "yuvj422p", "-c:v", "mjpeg",
               source)
        self.encode(source, "-o", self.path("full.mp4"), "--verify")
        self.assertEqual(video_stream(self.path("full.mp4"))["color_range"], "pc")

    def test_sample_aspect_ratio(self):
        source = self.path("sar.mkv")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-frames:v", "2", "-vf", "setsar=16/11", "-pix_fmt",
               "yuv420p", source)
        for out in ("sar.mp4", "sar_out.mkv", "sar.264"):
            self.encode(source, "-o", self.path(out))
            self.assertEqual(video_stream(self.path(out))["sample_aspect_ratio"], "16:11")


if __name__ == "__main__":
    main()
