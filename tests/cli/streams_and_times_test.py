"""Streams are chosen, times begin at 0, parts of bare streams play, and protect keeps what stands beside the pictures."""
import subprocess

from media_kinds import AVC, QUARTER, SINE, TESTSRC, Kind, make, rotated
from support import CommandTest, ffmpeg, ffprobe, main, packet_times, video_stream

FILM = Kind("film", "film.mkv",
            ["-map", "0", "-map", "1", "-map", "1", "-map", "2", "-map_metadata", "2", "-attach", "FONT", "-metadata:s:t",
             "mimetype=font/ttf", *AVC, "-c:a", "aac", "-c:s", "srt", "-metadata:s:a:1", "language=ger"],
            TESTSRC + SINE + ["-i", "SRT", "-i", "META"])
FILM.arguments[FILM.arguments.index("-map_metadata") + 1] = "3"


def kinds(path):
    return [stream["codec_type"] for stream in ffprobe(path, "-show_streams")["streams"]]


class StreamsAndTimes(CommandTest):
    def encoded(self, source, name, *options):
        done = self.encode(source, "-o", self.path(name), "--preset", "fast", *options)
        return self.path(name), done.stderr

    def test_choice_of_streams(self):
        film = make(FILM, self.folder)
        for number, (options, expected) in enumerate((
                ([], ["video", "audio", "audio", "subtitle", "attachment"]),
                (["--no-audio"], ["video", "subtitle", "attachment"]),
                (["--no-subtitles"], ["video", "audio", "audio", "attachment"]),
                (["--map", "v:0,a:1"], ["video", "audio"]),
                (["--map", "v,a,s,-a:0"], ["video", "audio", "subtitle"]))):
            out, _ = self.encoded(film, f"choice{number}.mkv", *options)
            self.assertEqual(kinds(out), expected, options)
        audio = ffprobe(self.path("choice3.mkv"), "-show_streams")["streams"][1]
        self.assertEqual(audio["tags"]["language"], "ger")
        self.refuse(1, "bad map", film, "--map", "nonsense:")
        self.refuse(1, "no stream \"a:7\"", film, "--map", "v,a:7")
        self.refuse(1, "names no video", film, "--map", "a")

    def test_the_second_video_is_encoded_if_it_is_named(self):
        source = self.path("two.mkv")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:duration=0.2", "-f", "lavfi", "-i", "testsrc2=size=96x64:duration=0.2",
               "-map", "0", "-map", "1", *AVC, source)
        out, _ = self.encoded(source, "named.mp4", "--map", "v:0")
        self.assertEqual(video_stream(out)["width"], 64)

    def test_times_begin_at_zero(self):
        source = make(Kind("late", "late.ts", [*AVC, "-c:a", "aac", "-output_ts_offset", "36000"], TESTSRC + SINE), self.folder)
        for extension in ("mp4", "mkv"):
            out, _ = self.encoded(source, "late." + extension)
            self.assertLess(float(ffprobe(out, "-show_format")["format"]["duration"]), 1.2)
            self.assertLess(packet_times(out)[0], 0.1)
        kept, _ = self.encoded(source, "kept.mp4", "--copyts")
        self.assertGreater(packet_times(kept)[0], 36000)
        part, _ = self.encoded(source, "part.mp4", "--seek", "0.5")
        self.assertLess(packet_times(part)[0], 0.1)

    def test_joined_recordings_go_on(self):
        source = make(Kind("once", "once.ts", AVC), self.folder)
        with open(source, "rb") as file:
            data = file.read()
        with open(self.path("joined.ts"), "wb") as file:
            file.write(data * 3)
        out, said = self.encoded(self.path("joined.ts"), "joined.mp4")
        times = packet_times(out)
        self.assertEqual(len(times), 75)
        self.assertEqual({round(b - a, 3) for a, b in zip(times, times[1:])}, {0.04})
        self.assertIn("clock jumps 2 times", said)

    def test_half_of_a_bare_stream_plays(self):
        source = self.clip("in.y4m", frames=8)
        for name, options, plays in (("every.264", [], True), ("first.264", ["--headers", "first"], False),
                                     ("every.ts", ["--headers", "every"], True)):
            out, _ = self.encoded(source, name, *options)
            with open(out, "rb") as file:
                data = file.read()
            half = self.path("half-" + name)
            with open(half, "wb") as file:
                file.write(data[len(data) // 2 // 188 * 188:])
            try:
                found = ffprobe(half, "-count_frames", "-show_entries", "stream=nb_read_frames")["streams"]
            except subprocess.CalledProcessError:
                found = []
            self.assertEqual(bool(found) and int(found[0].get("nb_read_frames", 0)) >= 3, plays, name)
        self.refuse(1, "--headers is for", source, "--headers", "first")
        self.refuse(1, "bad headers", source, "--headers", "all", output="x.264")

    def test_bare_streams_say_that_rates_vary(self):
        vfr = make(Kind("vfr", "vfr.mkv", ["-vf", "setpts='(N+floor(N/3))*0.04/TB'", *AVC, "-vsync", "vfr"]), self.folder)
        self.assertIn("frame rate varies", self.encoded(vfr, "vfr.264")[1])
        self.assertNotIn("frame rate varies", self.encoded(vfr, "vfr.mkv2.mkv")[1])
        self.assertNotIn("frame rate varies", self.encoded(self.clip("in.y4m", frames=8), "cfr.264")[1])

    def test_absurd_rate_of_a_bare_stream(self):
        source = make(Kind("slow", "slow.264", [*AVC, "-bsf:v", "h264_metadata=tick_rate=1/100000"]), self.folder)
        out, said = self.encoded(source, "slow.mp4")
        self.assertRegex(said, "rate of 1/200000 frames a second; 25 is taken")
        self.assertAlmostEqual(packet_times(out)[-1], 24 / 25, 3)

    def test_alpha_is_said_to_be_dropped_only_if_it_is_used(self):
        for name, colour, said in (("opaque.png", "red", False), ("glass.png", "red@0.5", True)):
            ffmpeg("-f", "lavfi", "-i", f"color={colour}:size=32x32,format=rgba", "-frames:v", 1, self.path(name))
            notes = self.encoded(self.path(name), name + ".mp4")[1]
            self.assertEqual("alpha dropped" in notes, said, notes)
        palette = make(Kind("palette", "palette.png", ["-frames:v", "1", "-pix_fmt", "pal8"]), self.folder)
        self.assertNotIn("alpha", self.encoded(palette, "palette.mp4")[1])

    def test_subtitles_go_to_mp4_and_back(self):
        film = make(FILM, self.folder)
        there, said = self.encoded(film, "there.mp4")
        self.assertIn("subtitle stream 3 (subrip) converted to mov_text", said)
        back, _ = self.encoded(there, "back.mkv")
        texts = [ffmpeg("-i", path, "-map", "0:s", "-f", "srt", "-", stdout=-1).stdout for path in (film, back)]
        self.assertEqual(*texts)

    def test_autorotate(self):
        phone = make(Kind("phone", "phone.mp4", AVC, after=rotated(QUARTER)), self.folder)
        kept, _ = self.encoded(phone, "kept2.mp4")
        self.assertEqual(video_stream(kept)["side_data_list"][0]["rotation"], -90)
        turned, _ = self.encoded(phone, "turned.mp4", "--autorotate", "--qp", "10")
        stream = video_stream(turned)
        self.assertEqual((stream["width"], stream["height"], "side_data_list" in stream), (48, 64, False))
        pictures = [ffmpeg("-i", path, "-frames:v", 1, "-vf", "scale=48:64:flags=neighbor,format=gray", "-f", "rawvideo", "-",
                           stdout=-1).stdout for path in (phone, turned)]
        worst = max(abs(a - b) for a, b in zip(*pictures))
        self.assertLess(worst, 40, "not the picture that ffmpeg shows")

    def test_protect_keeps_what_is_beside_the_pictures(self):
        film = make(FILM, self.folder)
        with open(self.path("key"), "wb") as file:
            file.write(bytes(range(32)))
        plain, _ = self.encoded(film, "plain.mkv", "--cavlc")
        rotated(QUARTER)(self.encoded(film, "plain.mp4", "--cavlc")[0])
        for name in ("plain.mkv", "plain.mp4"):
            extension = name.split(".")[1]
            sealed, opened = self.path("sealed." + extension), self.path("opened." + extension)
            self.cu264("protect", "encrypt", self.path(name), "-o", sealed, "--key-file", self.path("key"))
            self.cu264("protect", "decrypt", sealed, "-o", opened, "--key-file", self.path("key"))
            for out in (sealed, opened):
                before, after = (ffprobe(p, "-show_streams", "-show_chapters", "-show_format") for p in (self.path(name), out))
                self.assertEqual(kinds(out), kinds(self.path(name)))
                self.assertEqual([c["tags"] for c in after["chapters"]], [c["tags"] for c in before["chapters"]])
                self.assertEqual(after["format"]["tags"]["title"], "A title")
                self.assertEqual(after["streams"][0].get("side_data_list"), before["streams"][0].get("side_data_list"))
                self.assertEqual(packet_times(out), packet_times(self.path(name)))

    def test_protect_lets_times_of_transport_streams_begin(self):
        source = make(Kind("intra", "intra.ts", [*AVC, "-bf", "0", "-g", "1", "-profile:v", "baseline", "-output_ts_offset",
                                                 "36000"]), self.folder)
        with open(self.path("key"), "wb") as file:
            file.write(bytes(range(32)))
        for extension, low, high in (("mp4", 0, 0.1), ("ts", 36000, 36003)):
            out = self.path("begun." + extension)
            self.cu264("protect", "encrypt", source, "-o", out, "--key-file", self.path("key"))
            self.assertTrue(low <= packet_times(out)[0] <= high, packet_times(out)[0])


if __name__ == "__main__":
    main()
