"""Tests an ffmpeg with the encoder libcu264 against the command cu264: FFMPEG, FFPROBE and CU264 name the programs."""
import json
import os
import subprocess
import tempfile
import unittest

FFMPEG, FFPROBE, CU264 = (os.environ[name] for name in ("FFMPEG", "FFPROBE", "CU264"))
WIDTH, HEIGHT, PICTURES = 176, 90, 23
START = b"\0\0\1"
SEI, SPS, PPS, IDR = 6, 7, 8, 5


def run(*command):
    return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120)


def done(*command):
    result = run(*command)
    assert result.returncode == 0, f"{command}: {result.stderr.decode()}"
    return result.stdout


def ffmpeg(*arguments):
    return done(FFMPEG, "-v", "error", "-y", *arguments)


def units(stream):
    """NAL units of a byte stream."""
    return [unit.rstrip(b"\0") for unit in stream.split(START)[1:]]


def types(stream):
    return [unit[0] & 31 for unit in units(stream)]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def made(self, name="in.yuv", form="yuv420p", size=(WIDTH, HEIGHT), pictures=PICTURES):
        """Raw pictures, and ffmpeg's arguments to read them."""
        self.raw = self.path(name)
        ffmpeg("-f", "lavfi", "-i", f"testsrc2=s=192x108:r=25,scale={size[0]}:{size[1]}", "-frames:v", pictures, "-pix_fmt", form, "-f",
               "rawvideo", self.raw)
        return ["-f", "rawvideo", "-pix_fmt", form, "-s", f"{size[0]}x{size[1]}", "-r", 25, "-i", self.raw]

    def coded(self, source, *options, name="out.264"):
        ffmpeg(*source, "-c:v", "libcu264", *options, self.path(name))
        return self.read(name)

    def by_command(self, *options, size=(WIDTH, HEIGHT)):
        done(CU264, "encode", self.raw, self.path("own.264"), "-y", "--size", f"{size[0]}x{size[1]}", "--fps", 25, *options)
        return self.read("own.264")

    def decoded(self, name):
        """Checksums of the decoded pictures, without their times."""
        lines = ffmpeg("-i", self.path(name), "-f", "framecrc", "-").decode().splitlines()
        return [line.split(",")[-1] for line in lines if not line.startswith("#")]

    def probed(self, name, entries="packets"):
        return json.loads(done(FFPROBE, "-v", "error", "-of", "json", f"-show_{entries}", self.path(name)))[entries]


class Bytes(Case):
    def test_are_those_of_the_command(self):
        source = self.made()
        for theirs, ours in (
            (["-qp", 27], ["--qp", 27]),
            (["-crf", 23], ["--crf", 23]),
            (["-crf", 21.5, "-maxrate", "900k", "-bufsize", "500k"], ["--crf", 21.5, "--maxrate", 900, "--bufsize", 500]),
            (["-b:v", "700k"], ["--bitrate", 700]),
            (["-b:v", "700k", "-maxrate", "1M", "-bufsize", "400k", "-lookahead", 5],
             ["--bitrate", 700, "--maxrate", 1000, "--bufsize", 400, "--lookahead", 5]),
            (["-b:v", "2M", "-cbr", 1], ["--bitrate", 2000, "--cbr"]),
            (["-qp", 30, "-preset", "best", "-profile:v", "main", "-slices", 3], ["--qp", 30, "--preset", "best", "--profile", "main", "--slices", 3]),
            (["-profile:v", "baseline", "-preset", "fast", "-level", "3.1"], ["--profile", "baseline", "--preset", "fast", "--level", "3.1"]),
            (["-qp", 24, "-aq-mode", "variance", "-headers_first", 1], ["--qp", 24, "--aq", "variance", "--headers", "first"]),
            (["-cu264-params", "qp=33:deblock=off:cqm=jvt"], ["--qp", 33, "--no-deblock", "--cqm", "jvt"]),
            (["-qp", 27, "-g", 0, "-bf", 3, "-forced-idr", 1, "-threads", 3], ["--qp", 27]),
            (["-qp", 27, "-g", 9, "-bf", 3], ["--qp", 27, "--gop", 9]),
            (["-crf", 20, "-g", 9], ["--crf", 20, "--gop", 9]),
            (["-cu264-params", "gop=0"], ["--gop", 0]),
            (["-b:v", "700k", "-flags", "+low_delay"], ["--bitrate", 700, "--lookahead", 0]),
        ):
            with self.subTest(options=theirs):
                self.assertEqual(self.coded(source, *theirs), self.by_command(*ours))

    def test_colours_of_the_input(self):
        """Releases of the command differ in whether they take these from options of the output."""
        source = ["-color_primaries", "bt709", "-color_trc", "iec61966-2-1", "-colorspace", "bt709", "-color_range", "pc", *self.made()]
        self.assertEqual(self.coded(source, "-qp", 27), self.by_command("--qp", 27, "--colorprim", "bt709", "--transfer", "iec61966-2-1",
                                                                        "--colormatrix", "bt709", "--range", "full"))

    def test_real_clips(self):
        """Also what the files say of their pictures goes into the stream alike."""
        folder = os.path.join(os.environ.get("CU264_TEST_DATA", "/nowhere"), "video")
        clips = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        if not clips:
            self.skipTest("CU264_TEST_DATA names no folder of clips")
        for name in clips:
            with self.subTest(name=name):
                clip = os.path.join(folder, name)
                done(CU264, "encode", clip, self.path("own.264"), "-y", "--qp", 27, "--frames", 3)
                self.assertEqual(self.coded(["-i", clip], "-qp", 27, "-frames:v", 3), self.read("own.264"))

    def test_odd_sizes(self):
        for size in ((1, 1), (15, 17), (161, 91)):
            with self.subTest(size=size):
                source = self.made(size=size, pictures=3)
                self.assertEqual(self.coded(source, "-qp", 27), self.by_command("--qp", 27, size=size))

    def test_pixel_formats(self):
        planar = self.made()
        expected = self.coded(planar, "-qp", 27)
        self.assertEqual(self.coded([*planar], "-qp", 27, "-pix_fmt", "nv12"), expected)
        rgb = self.made("in.rgb", "rgb24")
        expected = self.coded(rgb, "-qp", 27)
        for form in ("gbrp", "bgr24", "rgb0", "bgr0"):
            with self.subTest(form=form):
                self.assertEqual(self.coded(rgb, "-qp", 27, "-pix_fmt", form), expected)
        gray = self.made("in.gray", "gray")
        chroma = bytes([128]) * (WIDTH * HEIGHT // 2)
        samples = self.read("in.gray")
        with open(self.path("in.yuv"), "wb") as file:
            for at in range(0, len(samples), WIDTH * HEIGHT):
                file.write(samples[at:at + WIDTH * HEIGHT] + chroma)
        told = ["-color_range", "tv"]
        self.assertEqual(self.coded([*told, *gray], "-qp", 27), self.coded([*told, *planar], "-qp", 27))

    def test_full_range_is_told(self):
        source = self.made()
        self.coded(source, "-qp", 27, "-color_range", "pc", name="full.mp4")
        self.assertEqual(self.probed("full.mp4", "streams")[0]["color_range"], "pc")

    def test_rgb_is_told_as_what_it_becomes(self):
        self.coded(self.made("in.rgb", "rgb24"), "-qp", 20, "-pix_fmt", "rgb24", name="rgb.mp4")
        stream = self.probed("rgb.mp4", "streams")[0]
        self.assertEqual((stream["pix_fmt"], stream["color_space"], stream.get("color_range", "tv")), ("yuv420p", "smpte170m", "tv"))

    def test_other_formats_become_yuv420p(self):
        for form in ("yuv444p", "yuv422p", "yuv420p10le"):
            with self.subTest(form=form):
                source = self.made("in.raw", form, pictures=2)
                result = run(FFMPEG, "-v", "verbose", "-y", *source, "-c:v", "libcu264", self.path("out.264"))
                self.assertEqual(result.returncode, 0, result.stderr.decode())
                self.assertIn(b"fmt:yuv420p", result.stderr.replace(b"yuv420p10le", b""))


class Containers(Case):
    def test_global_headers(self):
        source = self.made()
        self.coded(source, "-qp", 27)
        for name in ("out.mp4", "out.mkv"):
            with self.subTest(name=name):
                self.coded(source, "-qp", 27, name=name)
                self.assertEqual(self.decoded(name), self.decoded("out.264"))
                packets = self.probed(name)
                self.assertEqual(len(packets), PICTURES)
                self.assertTrue(all("K" in packet["flags"] and packet["pts"] == packet["dts"] for packet in packets))
                stream = self.probed(name, "streams")[0]
                self.assertEqual((stream["profile"], stream["width"], stream["height"]), ("High", WIDTH, HEIGHT))
        # Parameter sets are in the container alone, so packets are smaller by them.
        ffmpeg(*source, "-c:v", "libcu264", "-qp", 27, "-flags", "+global_header", self.path("bare.264"))
        self.assertEqual(set(types(self.read("bare.264"))), {IDR})

    def test_key_pictures(self):
        """They come after each GOP and where they are asked for, which begins another GOP; containers say so."""
        source = self.made()
        options = ["-qp", 27, "-g", 8, "-force_key_frames", "expr:eq(n,5)"]
        stream = self.coded(source, *options)
        keys = [0, 5, 13, 21]
        slices = [kind for kind in types(stream) if kind not in (SEI, SPS, PPS)]
        self.assertEqual([n for n, kind in enumerate(slices) if kind == IDR], keys)
        self.assertEqual(types(stream).count(SPS), len(keys))
        for name in ("out.mp4", "out.mkv", "out.ts"):
            with self.subTest(name=name):
                self.coded(source, *options, name=name)
                self.assertEqual(self.decoded(name), self.decoded("out.264"))
                packets = self.probed(name)
                self.assertEqual([n for n, packet in enumerate(packets) if "K" in packet["flags"]], keys)
                self.assertTrue(all(packet["pts"] == packet["dts"] for packet in packets))
                self.assertEqual(self.probed(name, "streams")[0]["has_b_frames"], 0)

    def test_headers_are_with_every_picture(self):
        """So that streams that are joined late can be decoded."""
        stream = self.coded(self.made(), "-qp", 27)
        self.assertEqual(types(stream), [SPS, PPS, SEI, IDR] + [SPS, PPS, IDR] * (PICTURES - 1))
        with open(self.path("late.264"), "wb") as file:
            file.write(b"".join(START + unit for unit in units(stream)[1 + 3 * 10:]))
        self.assertEqual(self.decoded("late.264"), self.decoded("out.264")[10:])

    def test_times_with_gaps(self):
        source = self.made()
        for name in ("gaps.mkv", "gaps.mp4"):
            with self.subTest(name=name):
                self.coded(source, "-vf", "select='not(between(n,3,6))*not(eq(n,15))'", "-fps_mode", "passthrough", "-qp", 27, name=name)
                times = [round(25 * float(packet["pts_time"])) for packet in self.probed(name)]
                self.assertEqual(times, [n for n in range(PICTURES) if n not in (3, 4, 5, 6, 15)])

    def test_every_picture_comes_out_at_the_end(self):
        for pictures in (1, 2, 5, 61):
            for options in (["-qp", 40], ["-b:v", "300k"], ["-b:v", "300k", "-flags", "+low_delay"]):
                with self.subTest(pictures=pictures, options=options):
                    self.coded(self.made(size=(32, 32), pictures=pictures), *options, name="out.mkv")
                    self.assertEqual(len(self.decoded("out.mkv")), pictures)

    def test_two_encoders_at_once(self):
        source = self.made()
        alone = [self.coded(source, "-qp", 20), self.coded(source, "-b:v", "500k")]
        ffmpeg(*source, "-map", 0, "-c:v", "libcu264", "-qp", 20, self.path("a.264"),
               "-map", 0, "-c:v", "libcu264", "-b:v", "500k", self.path("b.264"))
        self.assertEqual([self.read("a.264"), self.read("b.264")], alone)


class Errors(Case):
    def test_what_is_wrong_is_said(self):
        source = self.made(pictures=2)
        for options, words in (
            (["-preset", "placebo"], 'bad preset "placebo" (use fast, balanced or best)'),
            (["-profile:v", "high10"], 'bad profile "high10"'),
            (["-qp", 52], "qp"),
            (["-slices", 99], "slices"),
            (["-cbr", 1], "cbr"),
            (["-level", "1"], "level"),
            (["-device", "x"], "devices"),
            (["-cu264-params", "bogus=1"], 'unknown option "bogus" (use one of '),
            (["-backend", "cuda", "-device", 31], ""),
            (["-g", 12, "-cu264-params", "cqm=jvt"], "use cqm flat, or gop 1"),
        ):
            with self.subTest(options=options):
                result = run(FFMPEG, "-v", "error", "-y", *source, "-c:v", "libcu264", *options, self.path("out.264"))
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(words, result.stderr.decode())
                self.assertLessEqual(result.stderr.count(b"[libcu264 "), 2, result.stderr.decode())

    def test_a_picture_that_cannot_be_small_enough(self):
        result = run(FFMPEG, "-v", "error", "-y", *self.made(pictures=3), "-c:v", "libcu264", "-cu264-params", "max-frame-bytes=60",
                     "-xerror", self.path("out.264"))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("exceeds what a picture may have", result.stderr.decode())


class SideData(Case):
    def with_message(self, kind, payload):
        """A stream with an SEI message before each picture, decoded and coded again."""
        message = START + bytes([SEI, kind, len(payload)]) + payload + b"\x80"
        stream = b"".join((message if unit[0] & 31 == IDR else b"") + START + unit for unit in units(self.coded(self.made(), "-qp", 27)))
        with open(self.path("with.264"), "wb") as file:
            file.write(stream)
        again = self.coded(["-i", self.path("with.264")], "-qp", 30, name="again.264")
        return sum(unit == message[3:] for unit in units(again))

    def test_captions(self):
        captions = bytes([0xb5, 0, 0x31]) + b"GA94" + bytes([3, 0x41, 0, 0xfc, 0x94, 0x2c, 0xff])
        self.assertEqual(self.with_message(4, captions), PICTURES)

    def test_light(self):
        version = int(done(FFMPEG, "-version").split()[2].decode().lstrip("n").split(".")[0])
        if version < 7:
            self.skipTest("this release's decoder does not read these messages")
        self.assertEqual(self.with_message(144, bytes([3, 0xe8, 1, 0x90])), PICTURES)
        display = bytes.fromhex("33c2 86c4 1d4c 0bb8 84d0 3e80 3d13 4042") + bytes.fromhex("00989680 0000c350")
        self.assertEqual(self.with_message(137, display), PICTURES)


class Default(Case):
    def test_order_of_encoders(self):
        """libx264 stays the default; programs that look for the first encoder with CUDA frames find this one."""
        source = os.path.join(os.path.dirname(FFMPEG), "src")  # configure's link
        with open(os.path.join(source, "libavcodec/allcodecs.c"), encoding="utf-8") as file:
            text = file.read()
        places = [text.index(f"ff_{name}_encoder;") for name in ("libx264", "libopenh264", "libcu264", "h264_nvenc")]
        self.assertEqual(places, sorted(places))


if __name__ == "__main__":
    unittest.main()
