"""Inputs that cannot be used: the command prints one line, exits with status 2 and leaves no file."""
import os
import subprocess
import struct

from support import CommandTest, ffmpeg, main, video_stream


class BadInput(CommandTest):
    def file(self, name, data):
        with open(self.path(name), "wb") as out:
            out.write(data)
        return self.path(name)

    def test_missing(self):
        self.refuse(2, "nowhere.mp4.*No such file", self.path("nowhere.mp4"))
        self.refuse(2, "No such file", self.path("frame%03d.png"))

    def test_empty(self):
        self.refuse(2, "empty.mp4.*empty", self.file("empty.mp4", b""))
        self.refuse(2, "empty.yuv.*empty", self.file("empty.yuv", b""), "--size", "16x16")
        self.refuse(2, "standard input", "-")

    def test_directory(self):
        self.refuse(2, "directory", self.folder)

    def test_text(self):
        text = b"This is a text file, not a video.\n" * 300
        for name in ("text.txt", "text.mp4", "text", "text.y4m", "text.h264"):
            with self.subTest(name=name):
                self.refuse(2, name, self.file(name, text))

    def test_noise(self):
        noise = os.urandom(50000)
        for name in ("noise.mkv", "noise.mp4", "noise.264", "noise.png", "noise.ts"):
            with self.subTest(name=name):
                self.refuse(2, name, self.file(name, noise))

    def test_too_wide_grey_picture(self):
        wide = self.clip("wide.png", "color=gray:size=8194x16:rate=25", 1, "-pix_fmt", "gray")
        self.refuse(2, "wide.png.*8194x16.*too large.*8192x8192", wide)

    def test_audio_only(self):
        ffmpeg("-f", "lavfi", "-i", "sine=duration=0.2", self.path("tone.wav"))
        self.refuse(2, "tone.wav.*no video", self.path("tone.wav"))

    def test_raw_video_without_size(self):
        self.refuse(1, "--size", self.file("bare.yuv", bytes(16 * 16 * 3 // 2)))

    def test_raw_video_of_bad_size(self):
        raw = self.file("sized.yuv", bytes(16 * 16 * 3 // 2))
        for size in ("0x0", "0x16", "16x-16", "-16x16", "99999x99999", "8193x16", "16", "axb", "16x16x16", ""):
            with self.subTest(size=size):
                self.refuse(1, "size", raw, f"--size={size}")

    def test_raw_video_of_bad_pixel_format(self):
        raw = self.file("format.yuv", bytes(16 * 16 * 3 // 2))
        self.refuse(1, "pix-fmt.*nonsense", raw, "--size", "16x16", "--pix-fmt", "nonsense")
        self.refuse(1, "pix-fmt.*vaapi", raw, "--size", "16x16", "--pix-fmt", "vaapi")

    def test_fps_of_an_input_that_has_its_own(self):
        clip = self.clip("own.mp4", frames=3)
        self.refuse(1, "own.mp4.*--fps", clip, "--fps", "50")

    def test_truncated_raw_video(self):
        frame = 32 * 16 * 3 // 2
        raw = self.file("cut.yuv", bytes(3 * frame - 100))
        self.refuse(2, "cut off.*--allow-partial", raw, "--size", "32x16")
        with open(raw, "rb") as data:
            self.refuse(2, "cut off", "-", "--size", "32x16", stdin=data)
        done = self.encode(raw, "--size", "32x16", "--allow-partial", "-o", self.path("part.mp4"))
        self.assertIn("cut off", done.stderr)
        self.assertEqual(video_stream(self.path("part.mp4"))["nb_read_packets"], "2")

    def test_less_than_one_raw_picture(self):
        raw = self.file("short.yuv", bytes(100))
        self.refuse(2, "short.yuv", raw, "--size", "32x16")
        self.refuse(2, "short.yuv", raw, "--size", "32x16", "--allow-partial")

    def test_truncated_y4m(self):
        with open(self.clip("whole.y4m", frames=3), "rb") as whole:
            cut = self.file("cut.y4m", whole.read()[:-500])
        self.refuse(2, "cut off", cut)
        self.encode(cut, "--allow-partial", "-o", self.path("part2.mp4"))
        self.assertEqual(video_stream(self.path("part2.mp4"))["nb_read_packets"], "2")

    def test_corrupt_mp4(self):
        with open(self.clip("good.mp4", frames=30), "rb") as file:
            good = file.read()
        self.refuse(2, "headless.mp4", self.file("headless.mp4", good[: len(good) // 2]))  # the index is at the end
        start = good.index(b"mdat") + 4
        damaged = bytearray(good)
        damaged[start + 2000 : start + 6000] = os.urandom(4000)
        self.refuse(2, "damaged.mp4", self.file("damaged.mp4", bytes(damaged)))
        ffmpeg("-i", self.path("good.mp4"), "-c", "copy", "-movflags", "faststart", self.path("front.mp4"))
        with open(self.path("front.mp4"), "rb") as file:
            front = file.read()
        self.refuse(2, "short.mp4", self.file("short.mp4", front[: len(front) * 2 // 3]))
        self.encode(self.path("short.mp4"), "--allow-partial", "-o", self.path("part3.mp4"))

    def test_an_index_at_the_end_of_a_pipe(self):
        clip = self.clip("end.mp4", frames=30)
        for name in ("end.mp4", "end.mov"):
            ffmpeg("-i", clip, "-c", "copy", self.path("copy-" + name))
            for options in ([], ["--allow-partial"]):
                with open(self.path("copy-" + name), "rb") as file:
                    pipe = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE)
                    self.refuse(2, "index comes after its pictures.*faststart", "-", *options, stdin=pipe.stdout)
                    pipe.stdout.close()
                    pipe.wait()

    def test_frame_size_changes(self):
        small = self.clip("small.264", "testsrc2=size=96x64:rate=25", 3)
        large = self.clip("large.264", "testsrc2=size=128x80:rate=25", 3)
        with open(small, "rb") as a, open(large, "rb") as b:
            both = self.file("both.264", a.read() + b.read())
        self.refuse(2, "both.264.*from 96x64 to 128x80 at frame 3", both)
        for index, name in ((1, "small.264"), (2, "large.264")):
            ffmpeg("-i", self.path(name), "-frames:v", "1", self.path(f"mixed{index}.png"))
        self.refuse(2, "from 96x64 to 128x80 at frame 1", self.path("mixed%d.png"))

    def test_too_wide_rgb_picture(self):
        # The reader decodes the picture, so a header alone would not do.
        ffmpeg("-f", "lavfi", "-i", "color=size=8200x16:rate=1", "-frames:v", "1", self.path("wide.png"))
        self.refuse(2, "8200x16.*too large", self.path("wide.png"))

    def test_seek_beyond_the_end(self):
        self.refuse(2, "--seek", self.clip("good.mp4", frames=30), "--seek", "100")

    def test_header_with_a_false_size(self):
        header = b"YUV4MPEG2 W0 H0 F25:1\nFRAME\n"
        self.refuse(2, "zero.y4m", self.file("zero.y4m", header))
        huge = b"YUV4MPEG2 W99999 H99999 F25:1\nFRAME\n" + bytes(1000)
        self.refuse(2, "huge.y4m", self.file("huge.y4m", huge))
        bmp = b"BM" + struct.pack("<IHHI", 54, 0, 0, 54) + struct.pack("<IiiHHIIiiII", 40, 1 << 30, 1 << 30, 1, 24, 0,
                                                                       0, 0, 0, 0, 0)
        self.refuse(2, "huge.bmp", self.file("huge.bmp", bmp))


if __name__ == "__main__":
    main()
