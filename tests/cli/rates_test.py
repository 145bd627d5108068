"""How fast a video plays: rates of every kind of input, beside those of ffmpeg."""
import os
import subprocess
from fractions import Fraction

from support import CommandTest, ffmpeg, ffprobe, main, packet_times, video_stream

RATES = ("1", "24000/1001", "60000/1001", "60", "240", "1000/33")
RECORDER = ["-vsync", "passthrough", "-enc_time_base", "1/1000"]  # as browsers record: the times are milliseconds
VP8 = ["-c:v", "libvpx", "-deadline", "realtime"]
AVC = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"]


def without_default_duration(path):
    """Replaces the element of a Matroska file that tells a rate by one of no meaning."""
    with open(path, "r+b") as file:
        data = file.read()
        at = data.index(b"\x23\xe3\x83")
        size = 4 + (data[at + 3] & 0x7f)
        file.seek(at)
        file.write(bytes([0xec, 0x80 | (size - 2)]) + bytes(size - 2))


def soft_telecine(path):
    """Asks in each picture of an MPEG-2 stream for fields to be repeated as films on television have them: 3, 2, 3, 2."""
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        number, at = 0, data.find(b"\0\0\1\xb5")
        while at >= 0:
            if data[at + 4] >> 4 == 8:  # picture_coding_extension
                top_first, repeat = ((1, 1), (0, 0), (0, 1), (1, 0))[number % 4]
                data[at + 7] = data[at + 7] & 0x7d | top_first << 7 | repeat << 1
                data[at + 8] |= 0x80  # progressive_frame
                number += 1
            at = data.find(b"\0\0\1\xb5", at + 4)
        file.seek(0)
        file.write(data)


def with_pic_struct(path, changed, order):
    """Writes an H.264 stream anew whose SEI messages say in turn how pictures repeat fields (H.264 table D-1)."""
    flags = {0: 1, 5: 3, 6: 3, 7: 2, 8: 3}  # of clock time stamps, all 0, after pic_struct
    with open(path, "rb") as file:
        parts = file.read().split(b"\x06\x01\x01\x04\x80")
    with open(changed, "wb") as file:
        file.write(parts[0])
        for number, part in enumerate(parts[1:]):
            pic_struct = order[number % len(order)]
            file.write(bytes([6, 1, 1, pic_struct << 4 | 1 << (3 - flags[pic_struct]), 0x80]) + part)
    return changed


class Rates(CommandTest):
    def made(self, source, name, *options, **keywords):
        done = self.encode(source, "-o", self.path(name), "--preset", "fast", *options, **keywords)
        return self.path(name), done.stderr

    def kbps(self, path):
        """Of the video, over the time that its pictures are shown."""
        packets = ffprobe(path, "-show_packets", "-select_streams", "v:0")["packets"]
        begin = min(float(p["pts_time"]) for p in packets)
        end = max(float(p["pts_time"]) + float(p["duration_time"]) for p in packets)
        return sum(int(p["size"]) for p in packets) * 8 / 1000 / (end - begin)

    def test_uncompressed(self):
        for number, rate in enumerate(RATES):
            y4m = self.clip(f"r{number}.y4m", f"testsrc2=size=64x48:rate={rate}", 4)
            raw = self.path("r.yuv")
            ffmpeg("-i", y4m, "-f", "rawvideo", raw)
            theirs = self.path("theirs.mp4")
            ffmpeg("-i", y4m, *AVC, "-g", 1, theirs)
            wanted = (Fraction(rate), packet_times(theirs))
            with open(y4m, "rb") as pipe:
                for name, source, options, stdin in (("file", y4m, [], None), ("pipe", "-", [], pipe),
                                                     ("raw", raw, ["--size", "64x48", "--fps", rate], None)):
                    with self.subTest(rate=rate, source=name):
                        out, _ = self.made(source, "ours.mp4", *options, **({"stdin": stdin} if stdin else {}))
                        self.assertEqual((Fraction(video_stream(out)["avg_frame_rate"]), packet_times(out)), wanted)
        out, _ = self.made(self.path("r3.y4m"), "other.mp4", "--fps", "48")
        self.assertEqual(video_stream(out)["avg_frame_rate"], "48/1")

    def test_rates_decide_bitrate_and_level(self):
        fast = self.clip("fast.y4m", "mandelbrot=size=160x96:rate=60", 120)
        out, _ = self.made(fast, "fast.mkv", "--bitrate", "400")
        self.assertAlmostEqual(self.kbps(out), 400, delta=40)
        for rate, level in ((25, 40), (60, 42)):
            large = self.clip(f"hd{rate}.y4m", f"color=gray:size=1920x1080:rate={rate}", 1)
            out, _ = self.made(large, f"hd{rate}.264", "--qp", 45)
            self.assertEqual(video_stream(out)["level"], level)

    def recordings(self):
        for number, (name, times) in enumerate((("jitter", "N*0.0437+random(0)*0.03"), ("fast", "N*0.02+random(0)*0.017"),
                            ("screen", "N*0.3+random(0)*0.2"), ("bursts", "N*0.05+floor(N/20)*3"),
                            ("pause", "if(lt(N,40),N*0.033,N*0.033+5)"), ("steady", "N*0.04"))):
            extension, codec = (("webm", VP8), ("mkv", AVC))[number % 2]
            yield name, extension, codec, times.replace(",", "\\,")

    def test_recordings_of_variable_rate(self):
        for name, extension, codec, times in self.recordings():
            source = self.path(f"{name}.{extension}")
            ffmpeg("-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30:duration=2", "-vf", f"noise=alls=30,settb=1/1000,setpts=({times})/TB",
                   *codec, *RECORDER, source)
            without_default_duration(source)
            with self.subTest(name=name, container=extension):
                told = packet_times(source)
                mean = (len(told) - 1) / (told[-1] - told[0])
                out, _ = self.made(source, "recorded.mkv", "--bitrate", "300")
                self.assertEqual(packet_times(out), [round(time - told[0], 3) for time in told])
                # The container does not say how long the last picture is shown.
                kbps = os.path.getsize(out) * 8 / 1000 / (len(told) / mean)
                self.assertTrue(200 < kbps < 400, f"{kbps:.0f} kb/s")
                with open(source, "rb") as pipe:
                    piped, _ = self.made("-", "piped.mkv", "--bitrate", "300", stdin=pipe)
                self.assertEqual(packet_times(piped), packet_times(out))
                self.assertAlmostEqual(os.path.getsize(piped) / os.path.getsize(out), 1, delta=0.2)
                bare, said = self.made(source, "recorded.264")
                self.assertAlmostEqual(float(Fraction(video_stream(bare)["r_frame_rate"])) / mean, 1, delta=0.05)
                self.assertEqual("frame rate varies" in said, name != "steady")

    def test_repeated_fields_of_bare_streams(self):
        plain = self.path("plain.264")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30000/1001", "-frames:v", 40, *AVC, "-bf", 0,
               "-x264-params", "pic-struct=1", plain)
        mpeg2 = self.path("soft.m2v")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30000/1001", "-frames:v", 40, "-c:v", "mpeg2video", "-bf", 0,
               "-flags", "+ilme+ildct", mpeg2)
        soft_telecine(mpeg2)
        film = Fraction(24000, 1001)
        # pic_struct 5 and 6 repeat a field, 7 and 8 show a picture two and three times
        sources = [(mpeg2, film), (plain, Fraction(30000, 1001))]
        for name, order, rate in (("film", (5, 0, 6, 0), film), ("doubled", (7,), Fraction(15000, 1001)),
                                  ("tripled", (8,), Fraction(10000, 1001)), ("always", (5,), Fraction(20000, 1001))):
            sources.append((with_pic_struct(plain, self.path(name + ".264"), order), rate))
        for source, rate in sources:
            with self.subTest(source=os.path.basename(source)):
                out, _ = self.made(source, "repeated.mp4")
                times = packet_times(out)
                self.assertEqual(len(times), 40)
                self.assertAlmostEqual(times[-1], float(39 / rate), delta=0.06)
                self.assertAlmostEqual(float(Fraction(video_stream(out)["avg_frame_rate"]) / rate), 1, delta=0.02)
                theirs = self.path("theirs.mp4")
                ffmpeg("-i", source, "-vsync", "vfr", *AVC, "-g", 1, theirs)
                for ours, other in zip(times, their_times := packet_times(theirs)):
                    self.assertAlmostEqual(ours, other - their_times[0], delta=0.035)
                bare, _ = self.made(source, "repeated.264")
                self.assertAlmostEqual(float(Fraction(video_stream(bare)["r_frame_rate"]) / rate), 1, delta=0.01)
                with open(source, "rb") as pipe:
                    piped, _ = self.made("-", "piped.mp4", stdin=pipe)
                self.assertEqual(packet_times(piped), times)
                fixed, _ = self.made(source, "fixed.mp4", "--fps", "25")
                self.assertAlmostEqual(packet_times(fixed)[-1], 39 / 25, delta=0.001)


if __name__ == "__main__":
    main()
