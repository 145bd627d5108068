"""Names of files with and without options, parts of an input, sequences of pictures, and tags that replace the input's."""
import os

from support import CommandTest, ffmpeg, main, packet_times, video_stream


class Files(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.clip("in.y4m", frames=2)

    def test_every_way_to_name_them(self):
        out = self.path("out.mp4")
        for arguments in ([self.input, out], [self.input, "-o", out], ["-o", out, self.input], ["-i", self.input, out],
                          ["-i", self.input, "-o", out], ["-y", out, "-i", self.input], ["--input", self.input, "--output", out]):
            with self.subTest(arguments=arguments):
                self.encode(*arguments)
                self.assertEqual(video_stream(out)["nb_read_packets"], "2")
                os.remove(out)

    def test_too_few_and_too_many(self):
        out = self.path("x.mp4")
        for pattern, arguments in (("no input", []), ("no output", [self.input]), ("no output", ["-i", self.input]),
                                   ("too many", [self.input, out, out]), ("too many", ["-i", self.input, "-o", out, out])):
            self.assertRegex(self.encode(*arguments, code=1).stderr, pattern)

    def test_other_verbs(self):
        for arguments in (["edges", self.input, self.path("e.264")], ["vle", "compress", self.input, self.path("in.vle")],
                          ["vle", "expand", "-i", self.path("in.vle"), self.path("back.y4m")]):
            self.cu264(*arguments)
        with open(self.input, "rb") as a, open(self.path("back.y4m"), "rb") as b:
            self.assertEqual(a.read(), b.read())


class Parts(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.clip("in.mkv", "testsrc2=size=64x48:rate=10", 100, "-c:v", "ffv1", "-pix_fmt", "yuv420p")

    def pictures(self, *options):
        self.encode(self.input, self.path("out.mkv"), *options)
        return int(video_stream(self.path("out.mkv"))["nb_read_packets"])

    def test_lengths(self):
        for options, wanted in ((["--duration", "2"], 20), (["--to", "0:03.05"], 31), (["--seek", "9"], 10),
                                (["--seek", "0:00:09.5"], 5), (["--seek", "0:8", "--to", "9.5"], 15),
                                (["--seek", "9", "--duration", "5:00"], 10), (["--to", "3", "--frames", "4"], 4)):
            self.assertEqual(self.pictures(*options), wanted, options)

    def test_rate_of_raw_video(self):
        raw = self.path("raw.yuv")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:rate=10", "-frames:v", "3", "-pix_fmt", "yuv420p", "-f", "rawvideo", raw)
        for name in ("raw.264", "raw.mp4"):
            self.encode(raw, "--size", "64x48", "--fps", "30", self.path(name))
            stream = video_stream(self.path(name))
            # FFmpeg 7 reads the rate of a bare stream as 25, whatever its VUI says, and gives the VUI's field rate beside.
            rates = (stream["avg_frame_rate"], stream["r_frame_rate"])
            wanted = [("30/1", "30/1")] + ([("25/1", "60/1")] if name == "raw.264" else [])
            self.assertIn(rates, wanted, name)

    def test_sound_ends_with_the_pictures(self):
        both = self.path("both.mkv")
        ffmpeg("-i", self.input, "-f", "lavfi", "-i", "sine=duration=10", "-c:v", "copy", "-c:a", "aac", "-shortest", both)
        out = self.path("part.mkv")
        self.encode(both, out, "--seek", "2", "--duration", "3")
        self.assertEqual(len(packet_times(out)), 30)
        self.assertAlmostEqual(packet_times(out, "a:0")[-1], 3, delta=0.1)

    def test_refusals(self):
        for options in (["--to", "1", "--duration", "1"], ["--seek", "3", "--to", "2"], ["--duration", "0"],
                        ["--to", "1:2:3:4"], ["--to", "1:60:00"], ["--seek", "1:75"], ["--seek", "-1:00"], ["--seek", "1:"],
                        ["--duration", "1s"], ["--start-number", "1"], ["--start-number", "-1"]):
            self.refuse(1, options[0], self.input, *options)

    def test_sequences(self):
        for number in (7, 8, 9):
            ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", 1, self.path(f"pic{number}.png"))
        for pattern, options in (("pic%d.png", ["--start-number", "7"]), ("pic*.png", []), ("pic[78]*.png", []), ("pa?9.png", None)):
            if options is None:
                self.refuse(2, "pa.9", self.path(pattern))
                continue
            self.encode(self.path(pattern), self.path("seq.mkv"), "--fps", "5", *options)
            stream = video_stream(self.path("seq.mkv"))
            self.assertEqual((stream["nb_read_packets"], stream["avg_frame_rate"]), ("2" if "[" in pattern else "3", "5/1"))
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", 1, "-update", 1, self.path("star*.png"))
        self.encode(self.path("star*.png"), self.path("star.mkv"))  # a file of that name is itself


    def test_sequences_that_lack_a_picture(self):
        """A picture that is missing or empty is no end, wherever it is."""
        for number, extension in enumerate(("png", "jpg", "bmp", "tiff", "ppm")):
            ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", 6, self.path(f"lack{number}_%03d.{extension}"))
            numbered, globbed = (self.path(f"lack{number}_{rest}.{extension}") for rest in ("%03d", "*"))
            self.encode(numbered, self.path("all.mkv"))
            name = f"lack{number}_{(4, 2, 5, 3, 6)[number]:03d}.{extension}"
            with open(self.path(name), "wb"):
                pass
            for pattern in (numbered, globbed):
                self.refuse(2, f"{name} is empty", pattern)
                done = self.encode(pattern, self.path("part.mkv"), "--allow-partial")
                self.assertIn(f"{name} is empty; what comes after it is left out", done.stderr)
                self.assertLess(int(video_stream(self.path("part.mkv"))["nb_read_packets"]), 6)
            if number == 4:
                continue  # nothing comes after the last one
            os.remove(self.path(name))
            self.refuse(2, name, numbered)
            self.encode(globbed, self.path("five.mkv"))
            self.assertEqual(video_stream(self.path("five.mkv"))["nb_read_packets"], "5")
            before = int(name.split("_")[1].split(".")[0]) - 1
            self.encode(numbered, self.path("begin.mkv"), "--frames", before)
            self.assertEqual(video_stream(self.path("begin.mkv"))["nb_read_packets"], str(before))


class Tags(CommandTest):
    def test_raw_video(self):
        raw = self.path("in.yuv")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", 2, "-pix_fmt", "yuv420p", "-f", "rawvideo", raw)
        for out in ("tags.264", "tags.mp4", "tags.mkv"):
            self.encode(raw, "--size", "64x48", "-o", self.path(out), "--sar", "4:3", "--range", "pc", "--colorprim", "bt2020",
                        "--transfer", "smpte2084", "--colormatrix", "bt2020nc", "--chromaloc", "2")
            stream = video_stream(self.path(out))
            self.assertEqual([stream.get(k) for k in ("sample_aspect_ratio", "color_range", "color_primaries",
                                                      "color_transfer", "color_space")],
                             ["4:3", "pc", "bt2020", "smpte2084", "bt2020nc"])
            self.assertEqual(stream["chroma_location"], "topleft")

    def test_the_input_is_overruled(self):
        source = self.clip("tagged.mkv", "testsrc2=size=64x48", 2, "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-vf",
                           "setsar=2", "-c:v", "ffv1")
        self.encode(source, self.path("kept.264"))
        kept = video_stream(self.path("kept.264"))
        self.assertEqual((kept["color_space"], kept["sample_aspect_ratio"]), ("bt709", "2:1"))
        self.encode(source, self.path("new.264"), "--colormatrix", "smpte170m", "--sar", "1:1")
        new = video_stream(self.path("new.264"))
        self.assertEqual((new["color_space"], new["sample_aspect_ratio"]), ("smpte170m", "1:1"))

    def test_level(self):
        source = self.clip("level.y4m", "testsrc2=size=320x240:rate=25", 2)
        for text, number in (("1.3", 13), ("4", 40), ("51", 51)):
            self.encode(source, self.path("level.264"), "--level", text)
            self.assertEqual(video_stream(self.path("level.264"))["level"], number)
        self.refuse(1, "level 1b does not hold 320x240 at 25 .*1.3", source, "--level", "1b")
        done = self.encode(source, self.path("level.264"), "--level", "1.3", "--qp", "0")
        self.assertIn("more than the 960 that --level allows", done.stderr)

    def test_rgb_is_not_told_its_matrix(self):
        source = self.clip("rgb.png", "testsrc2=size=64x48", 1, "-pix_fmt", "rgb24")
        self.refuse(1, "--colormatrix", source, "--colormatrix", "bt709")


if __name__ == "__main__":
    main()
