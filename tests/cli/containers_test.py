"""Every container holds the right tags and timestamps, the copied audio and each picture once."""
import os
import subprocess

from support import CU264, CommandTest, decoded_md5, ffmpeg, ffprobe, main, packet_times, video_stream

AUDIO = ["-c:a", "aac", "-shortest"]


class Containers(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.clip("in.y4m", frames=25)
        cls.film = cls.path("film.mkv")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-f", "lavfi", "-i", "sine=frequency=440", "-t", "4",
               "-pix_fmt", "yuv420p", *AUDIO, cls.film)

    def test_each_container(self):
        expected = None
        for extension in ("264", "h264", "mp4", "mov", "mkv", "ts", "MP4"):
            with self.subTest(extension=extension):
                out = self.path("out." + extension)
                self.encode(self.input, "-o", out, "--verify", "--profile", "baseline")
                stream = video_stream(out)
                self.assertEqual((stream["codec_name"], stream["width"], stream["height"], stream["nb_read_packets"]),
                                 ("h264", 96, 64, "25"))
                # FFmpeg 7 reports the field rate of bare streams as r_frame_rate.
                self.assertEqual((stream["pix_fmt"], stream["avg_frame_rate"]), ("yuv420p", "25/1"))
                self.assertIn("Baseline", stream["profile"])
                expected = expected or decoded_md5(out)
                self.assertEqual(decoded_md5(out), expected)
                ffmpeg("-xerror", "-err_detect", "explode", "-i", out, "-f", "null", "-")

    def test_fragmented(self):
        for container in ("mp4", "mov"):
            out = self.path("fragmented." + container)
            self.encode(self.film, "-o", out, "--fragmented", "--verify")
            with open(out, "rb") as file:
                data = file.read()
            self.assertIn(b"moof", data)
            self.assertLess(data.index(b"moov"), data.index(b"mdat"))
            self.assertEqual(video_stream(out)["nb_read_packets"], "100")

    def test_standard_output(self):
        for container, probe in (("h264", "h264"), ("mkv", "matroska"), ("ts", "mpegts"), ("mp4", "mov")):
            with self.subTest(format=container):
                options = ["--fragmented"] if container == "mp4" else []
                done = self.encode(self.input, "-o", "-", "--format", container, *options)
                out = self.path("stdout." + container)
                with open(out, "wb") as file:
                    file.write(done.stdout)
                self.assertIn(probe, ffprobe(out, "-show_format")["format"]["format_name"])
                self.assertEqual(video_stream(out)["nb_read_packets"], "25")
        self.encode(self.input, "-o", self.path("file.264"))
        with open(self.path("file.264"), "rb") as file:
            self.assertEqual(file.read(), self.encode(self.input, "-o", "-").stdout)

    def test_standard_input(self):
        self.encode(self.input, "-o", self.path("direct.264"))
        with open(self.path("direct.264"), "rb") as file:
            direct = file.read()
        with open(self.input, "rb") as file:
            data = file.read()
        self.assertEqual(self.encode("-", "-o", "-", input=data, stdin=None).stdout, direct)
        raw = self.path("in.yuv")
        ffmpeg("-i", self.input, "-f", "rawvideo", raw)
        # Raw video does not tell the aspect ratio, so the headers differ from those of the Y4M file.
        direct = self.encode(raw, "--size", "96x64", "-o", "-").stdout
        with open(raw, "rb") as file:
            self.assertEqual(self.encode("-", "--size", "96x64", "-o", "-", stdin=file).stdout, direct)
        piped = subprocess.run(f"cat '{raw}' | '{CU264}' encode - --size 96x64 -o - | cat", shell=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        self.assertEqual(piped.stdout, direct)

    def test_fifo(self):
        os.mkfifo(self.path("fifo"))
        feeder = subprocess.Popen(["cp", self.input, self.path("fifo")])
        self.encode(self.path("fifo"), "-o", self.path("fifo.mp4"))
        feeder.wait()
        self.assertEqual(video_stream(self.path("fifo.mp4"))["nb_read_packets"], "25")

    def test_image_sequence_and_still(self):
        ffmpeg("-i", self.input, "-frames:v", "5", self.path("still%03d.png"))
        self.encode(self.path("still%03d.png"), "--fps", "10", "-o", self.path("stills.mp4"), "--verify")
        stream = video_stream(self.path("stills.mp4"))
        self.assertEqual((stream["nb_read_packets"], stream["r_frame_rate"]), ("5", "10/1"))
        self.encode(self.path("still001.png"), "-o", self.path("one.mkv"), "--verify")
        self.assertEqual(video_stream(self.path("one.mkv"))["nb_read_packets"], "1")

    def test_variable_frame_rate(self):
        source = self.path("irregular.mkv")
        # Pictures are 40, 80 and 200 ms apart in turn.
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-vf",
               "setpts='(floor(N/3)*320+if(eq(mod(N,3),0),0,if(eq(mod(N,3),1),40,120)))/1000/TB'", "-frames:v", "24",
               "-vsync", "vfr", "-enc_time_base", "1/1000", "-pix_fmt", "yuv420p", source)
        times = packet_times(source)
        self.assertGreater(len({round(b - a, 3) for a, b in zip(times, times[1:])}), 1)
        for extension in ("mp4", "mov", "mkv", "ts"):
            with self.subTest(extension=extension):
                out = self.path("vfr." + extension)
                self.encode(source, "-o", out, "--verify")
                kept = packet_times(out)
                offset = 1.4 if extension == "ts" else 0  # a transport stream leaves room for its decoder's buffer
                self.assertEqual([round(t - offset, 3) for t in kept], [round(t, 3) for t in times])

    def test_ntsc_times_do_not_drift(self):
        source = self.clip("ntsc.mp4", "testsrc2=size=32x32:rate=30000/1001", 200)
        self.encode(source, "-o", self.path("ntsc_out.mp4"), "--preset", "fast")
        self.assertEqual(packet_times(self.path("ntsc_out.mp4")), packet_times(source))
        elementary = self.path("ntsc.264")
        ffmpeg("-i", source, "-c", "copy", elementary)
        self.encode(elementary, "-o", self.path("ntsc_es.mp4"), "--preset", "fast")
        times = packet_times(self.path("ntsc_es.mp4"))
        self.assertEqual(len(times), 200)
        self.assertAlmostEqual(times[-1] - times[0], 199 * 1001 / 30000, 3)

    def test_audio_is_copied(self):
        for extension in ("mp4", "mov", "mkv", "ts"):
            with self.subTest(extension=extension):
                out = self.path("with_audio." + extension)
                self.encode(self.film, "-o", out, "--verify")
                audio = ffprobe(out, "-show_streams", "-select_streams", "a")["streams"]
                self.assertEqual([stream["codec_name"] for stream in audio], ["aac"])
                sound = [ffmpeg("-i", path, "-map", "0:a", "-c", "pcm_s16le", "-f", "md5", "-",
                                stdout=subprocess.PIPE).stdout for path in (self.film, out)]
                if extension == "mkv":  # other containers mark the encoder's delay differently
                    self.assertEqual(sound[0], sound[1])
        done = self.encode(self.film, "-o", self.path("silent.264"))
        self.assertRegex(done.stderr, r"note: audio stream 1 \(aac\) dropped")

    def test_audio_that_the_container_cannot_hold(self):
        source = self.path("flac.mkv")
        ffmpeg("-i", self.film, "-c:v", "copy", "-c:a", "flac", source)
        done = self.encode(source, "-o", self.path("flac.ts"))
        self.assertRegex(done.stderr, r"note: audio stream 1 \(flac\) dropped: ts cannot hold it")
        self.encode(source, "-o", self.path("flac_copy.mkv"))
        self.assertEqual(len(ffprobe(self.path("flac_copy.mkv"), "-show_streams")["streams"]), 2)

    def test_subtitles(self):
        subtitles = self.path("words.srt")
        with open(subtitles, "w") as file:
            file.write("1\n00:00:00,500 --> 00:00:01,500\nHello\n\n2\n00:00:02,000 --> 00:00:03,000\nWorld\n")
        source = self.path("words.mkv")
        ffmpeg("-i", self.film, "-i", subtitles, "-map", "0", "-map", "1", "-c", "copy", source)
        self.encode(source, "-o", self.path("words_out.mkv"))
        self.assertEqual(packet_times(self.path("words_out.mkv"), "s:0"), [0.5, 2.0])
        done = self.encode(source, "-o", self.path("words_out.mp4"))
        self.assertIn("subtitle stream 2", done.stderr)

    def test_seek_and_frames(self):
        whole, part = self.path("whole.264"), self.path("part.mkv")
        self.encode(self.film, "-o", part, "--seek", "1.2", "--frames", "30", "--verify", "--recon", self.path("part.yuv"))
        self.encode(self.film, "-o", whole, "--recon", self.path("whole.yuv"))
        size = 96 * 64 * 3 // 2
        with open(self.path("whole.yuv"), "rb") as file:
            expected = file.read()[30 * size : 60 * size]
        with open(self.path("part.yuv"), "rb") as file:
            self.assertTrue(file.read() == expected, "--seek 1.2 --frames 30 is not pictures 30 to 59")
        times = packet_times(part)
        self.assertEqual(len(times), 30)
        self.assertTrue(0 <= times[0] < 0.04, f"the first picture is at {times[0]}")  # the first one after 1.2
        sound = packet_times(part, "a:0")
        self.assertTrue(0 <= sound[0] < 0.05 and 1.1 < sound[-1] < times[-1] + 0.04, f"audio from {sound[0]} to {sound[-1]}")
        # A pipe cannot be sought in: the pictures before are decoded and dropped.
        with open(self.film, "rb") as file:
            piped = self.encode("-", "--seek", "1.2", "--frames", "30", "-o", "-", stdin=file).stdout
        self.encode(self.film, "--seek", "1.2", "--frames", "30", "-o", self.path("part.264"))
        with open(self.path("part.264"), "rb") as file:
            self.assertTrue(file.read() == piped)


if __name__ == "__main__":
    main()
