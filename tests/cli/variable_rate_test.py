"""Bitrates of variable frame rates: files end at their target, and passages of any rate have the same bits a second."""
import os
import unittest

import hrd
from support import CommandTest, QUICK, SANITIZED, ffmpeg, ffprobe, main

SOURCE = "testsrc2=size=320x240:rate={rate}:duration=40,noise=alls=12:allf=t"
BURSTS = "+".join(f"between(t,{begin},{begin + 1.4})" for begin in (0, 3.4, 8.8, 13.2, 17.8, 22.2))
# The rate of the source, the filters that choose its pictures and their times, their number, and kbit/s.
KINDS = {
    "halves": (60, "select='lt(t,12)+not(mod(n,6))'", 840, 1500),
    "alternating": (120, "select='if(mod(floor(t),2),not(mod(n,2)),not(mod(n,5)))'", 840, 1500),
    "jitter": (30, "settb=1/1000,setpts='(N+0.8*random(1))/30/TB'", 600, 1500),
    "some jitter": (30, "settb=1/1000,setpts='(N+0.8*random(1))/30/TB'", 150, 1500),
    "bursts": (60, f"select='gt({BURSTS},0)'", 500, 1500),
    "slides": (1, "setpts='N*3/TB'", 15, 150),
    "long first": (30, "setpts='if(eq(N,0),0,PTS+4/TB)'", 500, 1500),
}
EVEN = ("halves", "alternating", "jitter")  # without pauses


class Sizes:
    """The packets of a file: their bits, and the times at which they are shown."""

    def __init__(self, path):
        packets = ffprobe(path, "-show_packets", "-select_streams", "v:0")["packets"]
        self.begins = [float(packet["pts_time"]) for packet in packets]
        self.bits = [8 * int(packet["size"]) for packet in packets]
        last = float(packets[-1].get("duration_time", 0)) or (self.begins[-1] / max(len(packets) - 1, 1))
        self.ends = self.begins[1:] + [self.begins[-1] + last]

    def error(self, kbps):
        """Of the whole, beside the target."""
        return sum(self.bits) / (1000 * kbps * (self.ends[-1] - self.begins[0])) - 1

    def worst_window(self, kbps, seconds=2.0):
        """How far the bits of any so many seconds are from the target; a picture's count for as long as it is shown."""
        def until(time):
            return sum(bits * min(max((time - begin) / (end - begin), 0), 1)
                       for begin, end, bits in zip(self.begins, self.ends, self.bits))
        starts = [self.begins[0] + 0.25 * n for n in range(int((self.ends[-1] - self.begins[0] - seconds) / 0.25))]
        return max(abs((until(start + seconds) - until(start)) / (1000 * kbps * seconds) - 1) for start in starts)


class VaryingClips(CommandTest):
    @classmethod
    def varying(cls, kind, container="mkv"):
        rate, choice, pictures, _ = KINDS[kind]
        path = cls.path(f"{kind.replace(' ', '-')}.{container}")
        if not os.path.exists(path):
            # The source ends: where a filter drops all later pictures, FFmpeg 7.1 does not notice that -frames is reached.
            ffmpeg("-f", "lavfi", "-i", f"{SOURCE.format(rate=rate)},{choice}", "-vsync", "passthrough", "-enc_time_base", "1:1000",
                   "-frames:v", pictures,
                   "-pix_fmt", "yuv420p", "-c:v", "ffv1" if container == "mkv" else "libx264", "-qp", 10, "-preset", "ultrafast",
                   path)
        return path

    def coded(self, kind, *options, container="mkv", output="mkv"):
        path = self.path(f"out.{output}")
        done = self.encode(self.varying(kind, container), "-o", path, "--preset", "fast", "--bitrate", KINDS[kind][3], *options)
        return path, done.stderr

    @staticmethod
    def by_x264(source, kbps):
        path = source + ".x264.mkv"
        ffmpeg("-i", source, "-vsync", "passthrough", "-enc_time_base", "1:1000", "-c:v", "libx264", "-g", 1, "-preset", "ultrafast", "-b:v", f"{kbps}k", path)
        return Sizes(path)


class VariableRate(VaryingClips):
    @unittest.skipIf(SANITIZED, "encodes too much")
    def test_bits_follow_times(self):
        for kind in ("halves",) if QUICK else sorted(KINDS.keys() - {"some jitter"}):
            kbps = KINDS[kind][3]
            theirs = None if QUICK else self.by_x264(self.varying(kind), kbps)
            for lookahead in (40,) if QUICK else (0, 40):
                with self.subTest(kind=kind, lookahead=lookahead):
                    path, _ = self.coded(kind, "--lookahead", lookahead)
                    ours = Sizes(path)
                    for name, sizes in (("cu264", ours), ("x264", theirs)):
                        if sizes is not None:
                            print(f"{kind}, look-ahead {lookahead}, {name}: {100 * sizes.error(kbps):+.1f} %, "
                                  f"two seconds {100 * sizes.worst_window(kbps):.0f} %")
                    self.assertLess(abs(ours.error(kbps)), 0.03)
                    if kind in EVEN:
                        self.assertLess(ours.worst_window(kbps), 0.1)

    def test_a_stream_says_a_buffer_only_if_it_keeps_one(self):
        for options, output, buffer in (([], "mkv", False), ([], "264", True), (["--maxrate", 2000], "mkv", True),
                                        (["--vf", "fps=25"], "mkv", True)):
            with self.subTest(options=options, output=output):
                path, said = self.coded("some jitter", *options, output=output)
                bare = path if output == "264" else self.path("bare.264")
                if bare != path:
                    ffmpeg("-i", path, "-c", "copy", bare)
                units = hrd.traced(bare)
                self.assertEqual(units[0]["nal_hrd_parameters_present_flag"], int(buffer))
                if output == "264":  # ffmpeg's copies have longer start codes
                    self.assertEqual(hrd.Buffer(units).faults, [])
                self.assertEqual("count pictures at" in said, "--maxrate" in options)

    @unittest.skipIf(SANITIZED, "encodes too much")
    def test_other_containers_and_filters(self):
        cases = (("mkv", ["--vf", "select='not(mod(n,2))'"]), ("ts", []), ("mp4", []), ("mkv", ["--seek", 7]))
        for container, options in cases[:1] if QUICK else cases:
            with self.subTest(container=container, options=options):
                path, _ = self.coded("halves", *options, container=container)
                self.assertLess(abs(Sizes(path).error(1500)), 0.03)
                self.assertLess(Sizes(path).worst_window(1500), 0.15)


if __name__ == "__main__":
    main()
