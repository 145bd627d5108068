"""cu264 edges: every kind of output, thresholds, options that change the map, and what is refused."""
import json
import os
import re
import struct
import subprocess
import zlib

from support import CommandTest, ffmpeg, main, video_stream


def read_pgm(path):
    with open(path, "rb") as file:
        data = file.read()
    magic, width, height, most = re.match(rb"(P5)\s(\d+) (\d+)\s(\d+)\s", data).groups()
    pixels = data[-int(width) * int(height):]
    assert magic == b"P5" and most == b"255"
    return int(width), int(height), pixels


def write_pgm(path, width, height, pixels):
    with open(path, "wb") as file:
        file.write(b"P5\n%d %d\n255\n" % (width, height) + bytes(pixels))
    return path


def png_size(path):
    """Returns width, height and colour type after checking the CRC of every chunk."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        crc, = struct.unpack(">I", data[at + 8 + size:at + 12 + size])
        assert zlib.crc32(data[at + 4:at + 8 + size]) == crc
        at += 12 + size
    width, height, _, colour = struct.unpack(">IIBB", data[16:26])
    return width, height, colour


class Edges(CommandTest):
    def edges(self, *arguments, **keywords):
        return self.cu264("edges", *arguments, **keywords)

    def still(self):
        return self.clip("still.png", "mandelbrot=size=100x75", 1, "-pix_fmt", "gray")

    def refuse_edges(self, code, pattern, *arguments):
        before = set(os.listdir(self.folder))
        done = self.edges(*arguments, code=code)
        lines = [line for line in done.stderr.splitlines() if line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertRegex(lines[0], "^cu264: error: .*" + pattern)
        self.assertEqual(set(os.listdir(self.folder)), before, "a file was left behind")

    def test_pgm_and_png_hold_the_same_map(self):
        self.edges(self.still(), "-o", self.path("map.pgm"))
        self.edges(self.still(), "-o", self.path("map.png"))
        width, height, pixels = read_pgm(self.path("map.pgm"))
        self.assertEqual((width, height), (100, 75))
        self.assertEqual(set(pixels), {0, 255})
        self.assertEqual(png_size(self.path("map.png")), (100, 75, 0))
        ffmpeg("-i", self.path("map.png"), "-pix_fmt", "gray", "-f", "rawvideo", self.path("map.raw"))
        with open(self.path("map.raw"), "rb") as file:
            self.assertEqual(file.read(), pixels)

    def test_sequence_and_standard_output(self):
        clip = self.clip("clip.y4m", frames=3)
        self.edges(clip, "-o", self.path("seq%03d.pgm"))
        piped = self.edges(clip, "-o", "-", "-q").stdout
        files = b""
        for number in (1, 2, 3):
            with open(self.path("seq%03d.pgm" % number), "rb") as file:
                files += file.read()
        self.assertEqual(piped, files)
        self.assertFalse(os.path.exists(self.path("seq000.pgm")) or os.path.exists(self.path("seq004.pgm")))

    def test_frames_and_seek(self):
        clip = self.clip("clip.y4m", frames=3)
        self.edges(clip, "-o", self.path("all%d.pgm"))
        self.edges(clip, "-o", self.path("cut%d.pgm"), "--seek", "0.08", "--frames", "1")
        self.assertEqual(read_pgm(self.path("cut1.pgm")), read_pgm(self.path("all3.pgm")))
        self.assertFalse(os.path.exists(self.path("cut2.pgm")))

    def test_raw_video(self):
        clip = self.clip("clip.y4m", frames=3)
        ffmpeg("-i", clip, "-f", "rawvideo", self.path("raw.yuv"))
        self.edges(self.path("raw.yuv"), "--size", "96x64", "-o", self.path("raw%d.pgm"))
        self.edges(clip, "-o", self.path("own%d.pgm"))
        self.assertEqual(read_pgm(self.path("raw2.pgm")), read_pgm(self.path("own2.pgm")))

    def test_video(self):
        clip = self.clip("clip.y4m", frames=3)
        for name in ("edges.mp4", "edges.264", "edges.mkv"):
            self.edges(clip, "-o", self.path(name), "--qp", "0")
            stream = video_stream(self.path(name))
            self.assertEqual((stream["width"], stream["height"], stream["nb_read_packets"]), (96, 64, "3"))
        # With the finest quantiser black and white can still be told apart.
        self.edges(clip, "-o", self.path("map%d.pgm"))
        ffmpeg("-i", self.path("edges.mp4"), "-frames:v", "1", "-pix_fmt", "yuvj420p", "-f", "rawvideo",
               self.path("edges.raw"))
        with open(self.path("edges.raw"), "rb") as file:
            decoded = file.read(96 * 64)
        self.assertEqual(bytes(255 if sample > 127 else 0 for sample in decoded), read_pgm(self.path("map1.pgm"))[2])

    def test_overlay(self):
        clip = self.clip("clip.y4m", frames=3)
        self.edges(clip, "-o", self.path("over.png"), "--overlay", "--frames", "1")
        self.assertEqual(png_size(self.path("over.png")), (96, 64, 2))
        self.edges(clip, "-o", self.path("over.mp4"), "--overlay")
        self.assertEqual(video_stream(self.path("over.mp4"))["nb_read_packets"], "3")
        self.edges(self.still(), "-o", self.path("over.pgm"), "--overlay")
        self.edges(self.still(), "-o", self.path("bare.pgm"))
        over, bare = read_pgm(self.path("over.pgm"))[2], read_pgm(self.path("bare.pgm"))[2]
        self.assertTrue(all(o == 255 for o, b in zip(over, bare) if b))
        self.assertGreater(len(set(over)), 10)

    def test_thresholds(self):
        self.edges(self.still(), "-o", self.path("t.pgm"), "--thresholds", self.path("t.json"))
        with open(self.path("t.json")) as file:
            report = json.load(file)
        self.assertEqual((report["width"], report["height"], report["sub_images"]), (100, 75, 4))
        self.assertEqual(report["candidates"], [0.01, 0.04, 0.07, 0.1, 0.13, 0.16, 0.19, 0.22, 0.25])
        self.assertEqual((len(report["pictures"]), report["count"]), (1, 1))
        self.assertEqual(len(report["pictures"][0]["thresholds"]), 4)
        for one in report["pictures"][0]["thresholds"]:
            self.assertIn(one["source"], ("own", "pooled", "ends"))
            self.assertTrue(0 < one["low"] <= one["high"] <= 0.25)

    def test_options_change_the_map_but_the_algorithm_does_not(self):
        def map_of(*arguments):
            self.edges(self.still(), "-o", self.path("o.pgm"), *arguments)
            return read_pgm(self.path("o.pgm"))[2]

        usual = map_of()
        for same in (["--published"], ["--threads", "1"], ["--backend", "cpu"], ["--candidates", "0.03"],
                     ["--sigma", "1.4"], ["--candidates", "0.01,0.04,0.07,0.1,0.13,0.16,0.19,0.22,0.25"]):
            self.assertEqual(map_of(*same), usual, same)
        maps = [usual] + [map_of(*other) for other in (["--sigma", "0.5"], ["--density-scaling"], ["--fixed", "0.02,0.5"])]
        self.assertEqual(len(set(maps)), 4)
        self.assertEqual(map_of("--partition", "rows", "--published"), map_of("--partition", "rows"))
        self.assertEqual(map_of("--partition", "frame", "--published", "--candidates", "0.01"),
                         map_of("--partition", "frame", "--candidates", "0.01"))

    def test_small_and_flat_pictures(self):
        for width, height in ((1, 1), (1, 50), (50, 1), (3, 3), (33, 31)):
            for name, pixels in (("flat", [90] * width * height), ("noise", os.urandom(width * height))):
                source = write_pgm(self.path("small.pgm"), width, height, pixels)
                self.edges(source, "-o", self.path("smalledges.pgm"), "--thresholds", self.path("small.json"))
                found = read_pgm(self.path("smalledges.pgm"))
                self.assertEqual(found[:2], (width, height))
                if name == "flat":
                    self.assertEqual(set(found[2]), {0})
                    with open(self.path("small.json")) as file:
                        one = json.load(file)["pictures"][0]["thresholds"][0]
                    self.assertEqual(one, {"low": None, "high": None, "source": "none"})

    def test_bad_inputs(self):
        out = ["-o", self.path("never.png")]
        with open(self.path("text.png"), "w") as file:
            file.write("This is no picture.\n" * 50)
        with open(self.path("empty.png"), "w"):
            pass
        with open(self.still(), "rb") as file:
            cut = file.read()
        with open(self.path("cut.png"), "wb") as file:
            file.write(cut[:60])
        self.refuse_edges(2, "No such file", self.path("nowhere.png"), *out)
        for name in ("text.png", "empty.png", "cut.png"):
            self.refuse_edges(2, name, self.path(name), *out)
        self.refuse_edges(2, "directory", self.folder, *out)

    def test_large_pictures(self):
        wide = self.clip("wide.png", "testsrc2=size=9000x64:rate=25", 1, "-pix_fmt", "gray")
        self.cu264("edges", wide, "-o", self.path("wide.pgm"))
        with open(self.path("wide.pgm"), "rb") as file:
            self.assertTrue(file.read().startswith(b"P5\n9000 64\n"))
        raw = self.path("raw.gray")
        with open(raw, "wb") as file:
            file.write(bytes(16384 * 32))
        self.cu264("edges", raw, "--size", "16384x32", "--pix-fmt", "gray", "-o", self.path("raw.pgm"))
        self.assertEqual(os.path.getsize(self.path("raw.pgm")), len("P5\n16384 32\n255\n") + 16384 * 32)
        out = ["-o", self.path("never.pgm")]
        self.refuse_edges(1, "1 to 16384", raw, "--size", "16385x16", *out)
        self.refuse_edges(1, "width 9000", wide, "-o", self.path("never.mp4"))  # the encoder's own limit

    def test_usage(self):
        still, out = self.still(), ["-o", self.path("never.png")]
        self.refuse_edges(1, "no input", *out)
        self.refuse_edges(1, "no output", still)
        self.refuse_edges(1, "never.xyz.*known", still, "-o", self.path("never.xyz"))
        self.refuse_edges(1, "same file", still, "-o", still)
        self.refuse_edges(1, "same file", still, *out, "--thresholds", self.path("never.png"))
        for value in ("0", "2.1", "0.15", "x", ""):
            self.refuse_edges(1, "sigma", still, *out, "--sigma=" + value)
        for value in ("0.3", "0.3,0.2", "a,b", "0.1,0.2,0.3", "0.1,1.5", "0.005,0.2", ""):
            self.refuse_edges(1, "fixed", still, *out, "--fixed=" + value)
        for value in ("0.2,0.1", "0.1,0.1", "0,0.2", "1.2,1.3", "x", "0.3", "", "0.1,nan", "1e400"):
            self.refuse_edges(1, "candidate", still, *out, "--candidates=" + value)
        self.refuse_edges(1, "partition", still, *out, "--partition", "tiles")
        self.refuse_edges(1, "noise floor", still, *out, "--noise-floor", "1000")
        self.refuse_edges(1, "density", still, *out, "--density-scaling", "--fixed", "0.1,0.2")
        self.refuse_edges(1, "did you mean --sigma", still, *out, "--sigmas", "1")
        self.refuse_edges(1, "--qp is for video", still, *out, "--qp", "3")
        self.refuse_edges(1, "names one picture", self.clip("clip.y4m", frames=3), *out)
        self.refuse_edges(4, "never.png", still, "-o", "/nonexistent/never.png")

    def test_closed_pipe_is_an_error(self):
        clip = self.clip("long.y4m", frames=30)
        done = subprocess.run(f"'{os.path.abspath(os.environ.get('CU264', 'build/bin/cu264'))}' edges '{clip}' -o - -q; "
                              "echo $? >&2", shell=True, stdout=self.closed_pipe(), stderr=subprocess.PIPE, timeout=60)
        self.assertIn("4", done.stderr.decode().split()[-1])

    @staticmethod
    def closed_pipe():
        reading, writing = os.pipe()
        os.close(reading)
        return writing

    def test_help(self):
        text = self.edges("--help").stdout.decode()
        for option in ("--sigma", "--candidates", "--partition", "--fixed", "--overlay", "--thresholds"):
            self.assertIn(option, text)


if __name__ == "__main__":
    main()
