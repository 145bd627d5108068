"""Small files that ask for much: they take about the time that ffmpeg -c copy takes, bounded memory, and end when they are told to."""
import os
import re
import resource
import signal
import subprocess
import time
import unittest

from made_captions import sei_units
from made_matroska import block, cluster, matroska, picture, sound_track, tags, video_track
from support import CU264, SANITIZED, CommandTest, ffmpeg, ffprobe, main, video_stream

SIDE = 16
# Processor time of starting the command and coding the pictures.
ALLOWANCE = 2


def seconds(call):
    """Processor time of the processes that the call starts, which other work on the machine hardly changes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = call()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, result


@unittest.skipIf(SANITIZED, "measures time and memory")
class CostlyFiles(CommandTest):
    def compare(self, source, out, *options, read_as=(), copy="copy.mkv"):
        """At most twice the time of ffmpeg -c copy, beside what every encode takes. Returns the note lines."""
        copied, _ = seconds(lambda: ffmpeg(*read_as, "-i", source, "-map", "0", "-c", "copy", self.path(copy)))
        own, done = seconds(lambda: self.encode(source, self.path(out), "--preset", "fast", "--qp", "40", "--threads", "1", *options))
        print(f"{os.path.basename(source)}: {own:.2f} s, ffmpeg -c copy {copied:.2f} s")
        self.assertLessEqual(own, 2 * copied + ALLOWANCE, source)
        return done.stderr

    def early_sound(self, name, packets, pictures, data=b"\0\0"):
        """All the sound of an hour later comes before the pictures."""
        sound = [cluster(3600000 + 1000 * part, *(block(2, at, data) for at in range(min(1000, packets - 1000 * part))))
                 for part in range((packets + 999) // 1000)]
        video = [cluster(40 * at, block(1, 0, picture(at, SIDE, SIDE))) for at in range(pictures)]
        return matroska(self.path(name), [video_track(SIDE, SIDE), sound_track()], *sound, *video)

    def test_packets_that_wait(self):
        source = self.early_sound("waiting.mkv", 60000, 2500)
        self.compare(source, "waited.mkv")
        packets = [stream["nb_read_packets"] for stream in ffprobe(self.path("waited.mkv"), "-show_streams", "-count_packets")["streams"]]
        self.assertEqual(packets, ["2500", "60000"])

    def test_packets_that_wait_have_a_bound(self):
        """What the command lets wait has a bound, and a note says what is lost."""
        source = self.early_sound("heavy.mkv", 1000, 3, bytes(400000))

        def limit():
            resource.setrlimit(resource.RLIMIT_DATA, (1 << 29, 1 << 29))

        done = self.encode(source, self.path("light.mkv"), "--threads", "1", preexec_fn=limit)
        self.assertRegex(done.stderr, r"note: .*heavy\.mkv: \d+ packets of stream 1 dropped: they come too long before")
        self.assertEqual(video_stream(self.path("light.mkv"))["nb_read_packets"], "3")

    def test_captions_of_megabytes(self):
        plain = self.clip("plain.264", "testsrc2=size=96x64:rate=25", 1)
        with open(plain, "rb") as file:
            data = file.read()
        triples = bytes([0xfc, 0x41, 0x42]) * 1500000
        at = re.search(rb"\x00\x00\x01[\x05\x25\x45\x65]", data).start()
        source = self.path("captions.264")
        with open(source, "wb") as file:
            file.write(data[:at] + sei_units(triples) + data[at:])
        self.compare(source, "captioned.264", "--demuxer", "h264", read_as=("-f", "h264"), copy="copy.264")
        self.assertGreater(os.path.getsize(self.path("captioned.264")), len(triples))

    def test_many_tags(self):
        source = matroska(self.path("tags.mkv"), [video_track(SIDE, SIDE)], tags(15000), cluster(0, block(1, 0, picture(0, SIDE, SIDE))))
        self.compare(source, "tagged.mkv")

    def test_signals_end_a_demuxer_that_does_not_come_back(self):
        source = matroska(self.path("endless.mkv"), [video_track(SIDE, SIDE)], tags(400000), cluster(0, block(1, 0, picture(0, SIDE, SIDE))))
        for verb in (["encode", source, self.path("never.mp4")], ["edges", source, "-o", self.path("never.pgm")]):
            with subprocess.Popen([CU264, *verb], stderr=subprocess.PIPE) as process:
                self.wait_until_it_catches(process, signal.SIGTERM)
                time.sleep(1)
                self.assertIsNone(process.poll())
                begin = time.monotonic()
                process.send_signal(signal.SIGTERM)
                try:
                    self.assertEqual(process.wait(timeout=30), 143)
                finally:
                    process.kill()
                self.assertLess(time.monotonic() - begin, 20)
        self.assertFalse([name for name in os.listdir(self.folder) if "never" in name])


class AbsurdTimes(CommandTest):
    def two(self, name, first, second):
        """Two pictures at these milliseconds."""
        return matroska(self.path(name), [video_track(SIDE, SIDE)], *(cluster(at, block(1, 0, picture(1, SIDE, SIDE))) for at in (first, second)))

    def test_times_that_no_clock_shows(self):
        """They count as missing, with a note; nothing overflows."""
        for at in (2 ** 53, 2 ** 61, 2 ** 62, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 1):
            source = self.two("far.mkv", 0, at)
            for options in ([], ["--seek", "0.001"], ["--copyts"], ["--frames", str(2 ** 63 - 1)], ["--duration", "1000000000"],
                            ["--vf", "fps=50"], ["--vf", "setpts=PTS*4611686018427387904"]):
                with self.subTest(at=at, options=options):
                    done = subprocess.run([CU264, "encode", source, self.path("far.mp4"), "-y", *options], stderr=subprocess.PIPE,
                                          timeout=60, text=True)
                    self.assertIn(done.returncode, (0, 2), done.stderr)

    def test_rate_filters_do_not_fill_centuries(self):
        source = self.two("century.mkv", 0, 100 * 365 * 86400 * 1000)
        for graph in ("fps=25", "framerate=30", "minterpolate=fps=50:mi_mode=dup", "hflip,fps=1000"):
            with self.subTest(graph=graph):
                self.refuse(2, r"century\.mkv: --vf makes more than 1000000 pictures of what lies between two", source, "--vf", graph)
        self.encode(source, self.path("kept.mkv"), "--vf", "hflip")
        self.assertEqual(video_stream(self.path("kept.mkv"))["nb_read_packets"], "2")
        source = self.two("pause.mkv", 0, 200000)
        self.encode(source, self.path("filled.mkv"), "--vf", "fps=2", "--preset", "fast")
        self.assertEqual(video_stream(self.path("filled.mkv"))["nb_read_packets"], "400")

    def test_absurd_headers(self):
        """What an input says is no fault of the command line: the exit status is 2, or the picture is coded."""
        content = b"FRAME\n" + bytes(SIDE * SIDE * 3 // 2)
        for header, wanted in (("A1000000:1", 2), ("A1:1000000", 2), ("A2147483647:2147483646", 2), ("A2000000:1000000", 0), ("A0:0", 0),
                               ("A65535:1", 0), ("F2147483647:1", None), ("F1:2147483647", None), ("F0:0", None)):
            path = self.path("absurd.y4m")
            with open(path, "wb") as file:
                file.write(f"YUV4MPEG2 W{SIDE} H{SIDE} {header if header[0] == 'F' else 'F25:1 ' + header}\n".encode() + content)
            with self.subTest(header=header):
                done = subprocess.run([CU264, "encode", path, self.path("absurd.mkv"), "-y"], stderr=subprocess.PIPE, timeout=60, text=True)
                self.assertIn(done.returncode, (0, 2) if wanted is None else (wanted,), done.stderr)
        with open(self.path("wide.y4m"), "wb") as file:
            file.write(f"YUV4MPEG2 W{SIDE} H{SIDE} F25:1 A1000000:1\n".encode() + content)
        self.refuse(2, r"wide\.y4m: tells samples of the shape 1000000:1.*--sar", self.path("wide.y4m"))
        self.encode(self.path("wide.y4m"), self.path("square.mp4"), "--sar", "1:1")


if __name__ == "__main__":
    main()
