#!/usr/bin/env python3
"""Bits, quality and speed of cu264's presets beside x264's, all-intra, in the profile baseline or high.

  bench/rate_distortion.py CLIP...                  BD-rates and the points they come from
  bench/rate_distortion.py --profile high CLIP...   CABAC and the 8x8 transform on both sides
  bench/rate_distortion.py --tune ssim CLIP...      with adaptive quantisation on both sides, to be judged by SSIM
  bench/rate_distortion.py --speed CLIP             frames a second on one thread and two

A clip is anything FFmpeg reads; it becomes a raw 8-bit 4:2:0 file that every encoder is given. Rate is the
stream without SEI messages (x264 writes its settings into one). Quality is measured by FFmpeg's psnr and ssim
filters, the mean over pictures: PSNR of luma, U and V, their mean weighted 6:1:1 (YUV), and SSIM of luma in dB.
Luma alone must not be judged by: it counts chroma's bits and not what they are worth. BD-rate is Bjontegaard's
delta over the quality that both curves reach, in percent of the anchor's bits, interpolated by PCHIP in
log(rate): negative means fewer bits. The anchor is x264's preset
medium, or those of --anchors; without x264 only the points are printed. x264 runs with --tune psnr (no psychovisual decisions, no
adaptive quantisation) and --ipratio 1 (the QP that was asked for), as for any comparison by PSNR. With --tune ssim
x264 has --tune ssim and the QPs as --crf, since its --qp turns adaptive quantisation off, and cu264 has --aq variance.

The last column of the table of speeds compares processor times, which other work on the machine disturbs less than wall time.

Needs Python and the ffmpeg command. Tables are Markdown on standard output.
"""
import argparse
import json
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

X264_PRESETS = ["medium", "veryfast", "veryslow"]
PIXELS_1080P = 1920 * 1080
MEASURES = {"psnr_yuv": "YUV 6:1:1", "psnr_y": "luma", "psnr_u": "U", "psnr_v": "V", "ssim": "SSIM"}


class Failure(Exception):
    pass


def run(argv):
    """Standard output, wall seconds and processor seconds of a command that must succeed; an encoder may talk."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        said = err.read().decode(errors="replace").strip()
        if process.returncode != 0 or (said and argv[0].startswith("ff")):  # a decoder's complaint is a failure
            raise Failure("%s: exit status %d: %s" % (os.path.basename(argv[0]), process.returncode, said[-400:]))
        return out.read().decode(errors="replace"), wall, usage.ru_utime + usage.ru_stime


class Clip:
    """A clip as a raw file; of an odd side the last sample is left out, since x264 takes none."""

    def __init__(self, source, folder, at_least=1):
        self.name = os.path.splitext(os.path.basename(source))[0]
        self.path = os.path.join(folder, "clip.yuv")
        even = "crop=floor(iw/2)*2:floor(ih/2)*2:0:0"
        text, _, _ = run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries",
                          "stream=width,height", "-of", "csv=p=0", source])
        self.width, self.height = (int(side) & ~1 for side in text.strip().split(",")[:2])
        run(["ffmpeg", "-v", "error", "-y", "-i", source, "-map", "0:v:0", "-vf", even, "-vsync", "0",
             "-pix_fmt", "yuv420p", "-f", "rawvideo", self.path])
        frame_bytes = self.width * self.height * 3 // 2
        self.frames = os.path.getsize(self.path) // frame_bytes
        if self.frames == 0:
            raise Failure("%s: no pictures" % source)
        if self.frames < at_least:
            with open(self.path, "rb") as file:
                once = file.read()
            repeats = math.ceil(at_least / self.frames)
            with open(self.path, "wb") as file:
                for _ in range(repeats):
                    file.write(once)
            self.frames *= repeats

    def raw_options(self):
        return ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "%dx%d" % (self.width, self.height), "-r", "25"]


def cu264_command(program, preset, profile="baseline", tune="psnr"):
    def command(clip, qp, threads, output):
        return [program, "encode", clip.path, "--size", "%dx%d" % (clip.width, clip.height), "--fps", "25",
                "--preset", preset, "--profile", profile, "--aq", "variance" if tune == "ssim" else "off",
                "--qp", str(qp), "--threads", str(threads), "--backend", "cpu", "--quiet", "-y", "-o", output]
    return command


def x264_command(preset, profile="baseline", tune="psnr"):
    def command(clip, qp, threads, output):
        return ["x264", "--quiet", "--preset", preset, "--profile", profile, "--tune", tune, "--keyint", "1",
                "--bframes", "0", "--ipratio", "1", "--crf" if tune == "ssim" else "--qp", str(qp), "--threads", str(threads), "--fps", "25",
                "--input-res", "%dx%d" % (clip.width, clip.height), "-o", output, clip.path]
    return command


def stream_bytes(path):
    """Size of an Annex B stream without its SEI messages (H.264 annex B, table 7-1)."""
    with open(path, "rb") as file:
        stream = file.read()
    units = [unit for unit in stream.split(b"\0\0\1")[1:] if unit]
    types = {unit[0] & 31 for unit in units}
    if not {5} <= types <= {5, 6, 7, 8}:
        raise Failure("a stream of IDR pictures was expected; its nal_unit_types are %s" % sorted(types))
    return len(stream) - sum(len(unit) + 3 for unit in units if unit[0] & 31 == 6)


def quality(clip, stream):
    """Means over the pictures: PSNR of each plane, of all (6:1:1), and SSIM of luma in dB."""
    count = "settb=1/25,setpts=N"  # picture by picture, whatever the stream says of time
    text, _, _ = run(["ffmpeg", "-v", "error", "-r", "25", "-f", "h264", "-i", stream, *clip.raw_options(), "-i",
                      clip.path, "-lavfi",
                      "[0:v]%s,split[a][b];[1:v]%s,split[c][d];[a][c]psnr=stats_file=-,nullsink;"
                      "[b][d]ssim=stats_file=-" % (count, count), "-f", "null", "-"])

    def mean(name):
        values = [min(float(value), 100.0) for value in re.findall(r"\b%s:(\S+)" % name, text)]
        if len(values) != clip.frames:
            raise Failure("%d pictures decoded of %d" % (len(values), clip.frames))
        return statistics.fmean(values)

    psnr_y, psnr_u, psnr_v = (mean("psnr_" + plane) for plane in "yuv")
    return dict(psnr_y=psnr_y, psnr_u=psnr_u, psnr_v=psnr_v, psnr_yuv=(6 * psnr_y + psnr_u + psnr_v) / 8,
                ssim=-10 * math.log10(max(1 - mean("Y"), 1e-10)))


def pchip_slopes(x, y):
    """Slopes at the points that keep the interpolant monotone (Fritsch and Butland)."""
    width = [b - a for a, b in zip(x, x[1:])]
    rise = [(b - a) / w for a, b, w in zip(y, y[1:], width)]
    if len(x) == 2:
        return rise * 2
    inner = []
    for (w0, w1), (r0, r1) in zip(zip(width, width[1:]), zip(rise, rise[1:])):
        # A harmonic mean, weighted towards the nearer neighbour; flat at an extremum.
        inner.append(3 * (w0 + w1) / ((2 * w1 + w0) / r0 + (w1 + 2 * w0) / r1) if r0 * r1 > 0 else 0.0)

    def end(w0, w1, r0, r1):
        slope = ((2 * w0 + w1) * r0 - w0 * r1) / (w0 + w1)
        if slope * r0 <= 0:
            return 0.0
        return 3 * r0 if r0 * r1 < 0 and abs(slope) > 3 * abs(r0) else slope

    return [end(*width[:2], *rise[:2]), *inner, end(*width[:-3:-1], *rise[:-3:-1])]


def pchip_mean(points, low, high):
    """Mean of the interpolant of {x: y} over [low, high]."""
    x, y = zip(*sorted(points.items()))
    slopes, total = pchip_slopes(x, y), 0.0
    for i in range(len(x) - 1):
        def at(t):
            w, s = x[i + 1] - x[i], (t - x[i]) / (x[i + 1] - x[i])
            return ((1 + 2 * s) * (1 - s) ** 2 * y[i] + s * (1 - s) ** 2 * w * slopes[i] +
                    s * s * (3 - 2 * s) * y[i + 1] + s * s * (s - 1) * w * slopes[i + 1])
        a, b = max(x[i], low), min(x[i + 1], high)
        if a < b:
            total += (b - a) / 6 * (at(a) + 4 * at((a + b) / 2) + at(b))  # Simpson's rule: exact for cubics
    return total / (high - low)


def bd_rate(anchor, tested, measure):
    """Percent, of two lists of points; None where the curves do not overlap."""
    curves = [{p[measure]: math.log(p["bytes"]) for p in points} for points in (anchor, tested)]
    low, high = max(min(c) for c in curves), min(max(c) for c in curves)
    if high - low < 1e-6:
        return None
    base, other = (pchip_mean(curve, low, high) for curve in curves)
    return (math.exp(other - base) - 1) * 100


def markdown(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|---|" + "---:|" * (len(header) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def rate_distortion(sources, encoders, qps, folder):
    points, output = [], os.path.join(folder, "out.264")
    for source in sources:
        clip = Clip(source, folder)
        for encoder, command in encoders.items():
            for qp in qps:
                _, wall, processor = run(command(clip, qp, 1, output))
                points.append(dict(clip=clip.name, width=clip.width, height=clip.height, frames=clip.frames,
                                   encoder=encoder, qp=qp, bytes=stream_bytes(output),
                                   seconds=wall, processor_seconds=processor, **quality(clip, output)))
            print("%s: %s" % (clip.name, encoder), file=sys.stderr)
    return points


def print_points(points):
    markdown(["clip", "encoder", "QP", "kbit a picture", "pictures/s",
              *("%s, dB" % name for name in MEASURES.values())],
             [[p["clip"], p["encoder"], str(p["qp"]), "%.1f" % (p["bytes"] * 8e-3 / p["frames"]),
               "%.1f" % (p["frames"] / p["seconds"]), *("%.3f" % p[m] for m in MEASURES)] for p in points])


def print_bd_rates(points, encoders, anchor):
    """The means by every measure, then clip by clip; returns the BD-rates by measure, encoder and clip."""
    curves, columns = {}, [e for e in encoders if e != anchor]
    for point in points:
        curves.setdefault((point["clip"], point["encoder"]), []).append(point)
    clips = list(dict.fromkeys(p["clip"] for p in points))
    rates = {m: {e: {c: bd_rate(curves[c, anchor], curves[c, e], m) for c in clips} for e in columns}
             for m in MEASURES}

    def percent(value):
        return "-" if value is None else "%+.2f %%" % value

    def mean(values):
        known = [v for v in values if v is not None]
        return statistics.fmean(known) if known else None

    def speed(encoder):
        own = [p for p in points if p["encoder"] == encoder]
        pixels = sum(p["frames"] * p["width"] * p["height"] for p in own)
        return "%.1f" % (pixels / PIXELS_1080P / sum(p["processor_seconds"] for p in own))

    print("BD-rate against %s, mean over the clips; negative is fewer bits.\n" % anchor)
    markdown(["", *MEASURES.values(), "1080p pictures a second of processor time"],
             [[anchor, *("0" for _ in MEASURES), speed(anchor)]] +
             [[e, *(percent(mean(rates[m][e].values())) for m in MEASURES), speed(e)] for e in columns])
    for m in MEASURES:
        print("By %s, clip by clip.\n" % MEASURES[m])
        markdown(["clip", *columns], [[clip, *(percent(rates[m][e][clip]) for e in columns)] for clip in clips])
    return rates


def measure_speed(source, encoders, qp, rounds, frames, folder):
    """Encoders in turn, round by round, so that a slow spell of the machine meets them all."""
    clip, output = Clip(source, folder, frames), os.path.join(folder, "out.264")
    contenders = [(e, t) for e in encoders for t in ((1, 2) if e.startswith("cu264") else (1,))]
    seconds, processor = ({contender: [] for contender in contenders} for _ in range(2))
    for number in range(rounds):
        for encoder, threads in contenders:
            _, wall, busy = run(encoders[encoder](clip, qp, threads, output))
            seconds[encoder, threads].append(wall)
            processor[encoder, threads].append(busy)
        print("round %d of %d" % (number + 1, rounds), file=sys.stderr)
    base = "x264 veryfast" if "x264 veryfast" in encoders else next(iter(encoders))

    def ratio(measured, contender, other):  # median of the rounds' own ratios
        return "%.2f" % statistics.median(b / a for a, b in zip(measured[contender], measured[other]))

    print("%dx%d, %d pictures, QP %d, %d rounds: medians.\n" % (clip.width, clip.height, clip.frames, qp, rounds))
    markdown(["encoder", "threads", "pictures/s", "against one thread", "processor ms a picture", "speed against " + base],
             [[e, str(t), "%.1f" % (clip.frames / statistics.median(seconds[e, t])), ratio(seconds, (e, t), (e, 1)),
               "%.1f" % (statistics.median(processor[e, t]) * 1e3 / clip.frames), ratio(processor, (e, t), (base, 1))]
              for e, t in contenders])
    return [dict(encoder=e, threads=t, qp=qp, frames=clip.frames, seconds=seconds[e, t],
                 processor_seconds=processor[e, t]) for e, t in contenders]


def whole_numbers(text):
    return [int(number) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="*", metavar="CLIP")
    parser.add_argument("--presets", default="fast,balanced,best", help="of cu264 (%(default)s)")
    parser.add_argument("--profile", choices=("baseline", "high"), default="baseline",
                        help="of all encoders: CAVLC and the 4x4 transform, or CABAC and both transforms (%(default)s)")
    parser.add_argument("--tune", choices=("psnr", "ssim"), default="psnr",
                        help="ssim: adaptive quantisation by variance (%(default)s)")
    parser.add_argument("--anchors", default="medium", help="of BD-rates: presets of --peers (%(default)s)")
    parser.add_argument("--peers", default=",".join(X264_PRESETS), help="presets of x264 (%(default)s)")
    parser.add_argument("--qps", default="22,27,32,37", type=whole_numbers, help="two at least (%(default)s)")
    parser.add_argument("--cu264", default="build/bin/cu264", help="the command (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write every figure there")
    parser.add_argument("--points", action="store_true", help="print the points beside the BD-rates")
    parser.add_argument("--speed", metavar="CLIP", help="measure speed on this clip")
    parser.add_argument("--speed-qp", type=int, default=27, help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="of the speed measurement (%(default)s)")
    parser.add_argument("--frames", type=int, default=60, help="a shorter clip is repeated for speed (%(default)s)")
    arguments = parser.parse_args()
    if not arguments.clips and not arguments.speed:
        parser.error("no clip is given")
    program = shutil.which(arguments.cu264)
    if program is None:
        parser.error("no command %s: ./scripts/build makes it, --cu264 names it" % arguments.cu264)
    if not set(arguments.anchors.split(",")) <= set(arguments.peers.split(",")):
        parser.error("--anchors names a preset that is not one of --peers")
    if len(set(arguments.qps)) < 2:
        parser.error("--qps: a curve takes two points at least")
    coding = arguments.profile, arguments.tune
    encoders = {"cu264 " + p: cu264_command(program, p, *coding) for p in arguments.presets.split(",")}
    peers = {"x264 " + p: x264_command(p, *coding) for p in arguments.peers.split(",")} if shutil.which("x264") else {}
    if not peers:
        print("note: no x264 here, so there is nothing to compare with", file=sys.stderr)

    report = {}
    try:
        with tempfile.TemporaryDirectory(prefix="cu264-bench-") as folder:
            if arguments.clips:
                every = {**encoders, **peers}
                report["points"] = rate_distortion(arguments.clips, every, arguments.qps, folder)
                if arguments.points or not peers:
                    print_points(report["points"])
                if peers:
                    report["bd_rate"] = {anchor: print_bd_rates(report["points"], every, "x264 " + anchor)
                                         for anchor in arguments.anchors.split(",")}
            if arguments.speed:
                fast = {name: command for name, command in peers.items() if name != "x264 veryslow"}
                report["speed"] = measure_speed(arguments.speed, {**encoders, **fast}, arguments.speed_qp,
                                                arguments.rounds, arguments.frames, folder)
    except Failure as failure:
        sys.exit("rate_distortion.py: error: %s" % failure)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)


if __name__ == "__main__":
    main()
