#!/usr/bin/env python3
"""Compares the kinds of adaptive quantisation with one QP at equal bitrate: edge fidelity F, SSIM and PSNR.

    bench/aq_quality.py CLIP... [--cu264 build/bin/cu264] [--edge-quality build/bin/edge_quality]
                                [--preset fast] [--qp 24,30,36] [--frames N] [--modes "steps 2;edges 2"]
    bench/aq_quality.py CLIP... --speed [--modes "steps 2;edges 2"]

Each clip is encoded at each --qp with one QP for all macroblocks, which gives the bitrate. Each adaptive mode is then
encoded at the two neighbouring QPs whose bitrates lie on either side of it, and its figures are interpolated to that
bitrate, linearly in the logarithm of the size. F is that of edge_quality --fidelity, which compares the
edge maps of the decoded pictures with those of the source. SSIM is that of luma, PSNR that of all samples of Y, U and
V together. Prints one table of means over clips and QPs, with the standard errors over clips and the number of clips
whose F gains, and one table with the mean over the QPs of each clip. A picture (.png, .jpg) is a clip of one frame.

With --speed it prints pictures a second of each preset instead, of the CPU backend with one thread a core: encoding
and reading, the median of three runs, the modes in turn.
"""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import tempfile

MODES = {
    **{f"steps {n}": ["--aq", "steps", "--aq-strength", str(n)] for n in (1, 2, 3)},
    **{f"edges {n}": [f"--edge-guided={n}"] for n in (1, 2, 3)},
    **{f"edges 2, {name}": ["--edge-guided=2", "--edge-thresholds", name]
       for name in ("rows", "frame", "distributed-0.01", "0.08,0.19")},
    "variance": ["--aq", "variance"],
}


class Meter:
    """Encodes one clip and measures the result: (bytes, F, SSIM, PSNR)."""

    def __init__(self, arguments, clip, folder):
        self.arguments, self.clip, self.folder = arguments, clip, folder
        self.known = {}

    def __call__(self, qp, options):
        key = (qp, tuple(options))
        if key not in self.known:
            self.known[key] = self.measure(qp, options)
        return self.known[key]

    def measure(self, qp, options):
        stream = os.path.join(self.folder, "stream.264")
        stats = os.path.join(self.folder, "stats.json")
        command = [self.arguments.cu264, "encode", self.clip, "-o", stream, "--backend", "cpu", "--qp", str(qp),
                   "--profile", "baseline", "--preset", self.arguments.preset, "--ssim", "--psnr", "--stats",
                   stats, "--quiet", "-y",
                   *options]
        if self.arguments.frames:
            command += ["--frames", str(self.arguments.frames)]
        subprocess.run(command, check=True)
        with open(stats, encoding="utf-8") as file:
            totals = json.load(file)["totals"]
        text = subprocess.run([self.arguments.edge_quality, "--fidelity", self.clip, stream], check=True,
                              capture_output=True, text=True).stdout
        f = float(re.search(r"mean F ([0-9.]+)", text).group(1))
        return os.path.getsize(stream), f, totals["ssim"], totals["psnr"]["average"]

    def at_size(self, size, qp, options):
        """Figures at `size` bytes, and the size at `qp` itself."""
        here = self(qp, options)
        step = 1 if here[0] > size else -1
        low, at = here, qp
        while (low[0] - size) * step > 0 and 0 <= at + step <= 51:
            before, at = low, at + step
            low = self(at, options)
        if low is here or low[0] == before[0]:
            return low, here[0]
        share = (math.log(size) - math.log(before[0])) / (math.log(low[0]) - math.log(before[0]))
        return tuple(b + share * (a - b) for b, a in zip(before, low)), here[0]


def mean(values):
    return sum(values) / len(values)


def standard_error(values):
    if len(values) < 2:
        return math.inf
    return math.sqrt(sum((v - mean(values)) ** 2 for v in values) / (len(values) - 1) / len(values))


def compare(arguments, modes):
    rows = {mode: {} for mode in modes}
    for clip in arguments.clips:
        name = os.path.splitext(os.path.basename(clip))[0]
        with tempfile.TemporaryDirectory() as folder:
            meter = Meter(arguments, clip, folder)
            for qp in map(int, arguments.qp.split(",")):
                plain = meter(qp, [])
                for mode in modes:
                    found, size = meter.at_size(plain[0], qp, MODES[mode])
                    changes = [after - before for before, after in zip(plain[1:], found[1:])]
                    rows[mode].setdefault(name, []).append((*plain[1:], *changes, 100 * (size / plain[0] - 1)))
    print(f"QP {arguments.qp}, preset {arguments.preset}, at the bitrate of one QP for all macroblocks\n")
    first = [tuple(map(mean, zip(*cells))) for cells in next(iter(rows.values())).values()]
    f0, ssim0, psnr0 = (mean([clip[i] for clip in first]) for i in range(3))
    print(f"One QP: F {f0:.4f}, SSIM {ssim0:.5f}, PSNR {psnr0:.3f} dB\n")
    print("| mode | F | clips that gain | SSIM | PSNR, dB | size at the same --qp |")
    print("|---|---|---|---|---|---|")
    for mode, clips in rows.items():
        means = [tuple(map(mean, zip(*cells))) for cells in clips.values()]
        f, ssim, psnr, size = ([clip[i] for clip in means] for i in range(3, 7))
        print(f"| {mode} | {mean(f):+.4f} ± {standard_error(f):.4f} | {sum(gain > 0 for gain in f)} of {len(f)} | "
              f"{mean(ssim):+.5f} ± {standard_error(ssim):.5f} | {mean(psnr):+.3f} ± {standard_error(psnr):.3f} | "
              f"{mean(size):+.1f} % |")
    print("\n| clip | " + " | ".join(f"{mode}: F, SSIM, PSNR, size" for mode in modes) + " |")
    print("|---" * (len(modes) + 1) + "|")
    for name in next(iter(rows.values())):
        cells = []
        for clips in rows.values():
            f, ssim, psnr, size = list(map(mean, zip(*clips[name])))[3:]
            cells.append(f"{f:+.4f}, {ssim:+.5f}, {psnr:+.3f}, {size:+.1f} %")
        print(f"| {name} | " + " | ".join(cells) + " |")


def rate(arguments, clip, preset, options):
    command = [arguments.cu264, "encode", clip, "-o", os.devnull, "--format", "h264", "--backend", "cpu", "--profile",
               "baseline", "--preset", preset, "-y", "--progress", "off", *options]
    if arguments.frames:
        command += ["--frames", str(arguments.frames)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return float(re.search(r": ([0-9.]+) fps", text).group(1))


def time_modes(arguments, modes):
    print("| clip | preset | one QP | " + " | ".join(modes) + " |")
    print("|---" * (len(modes) + 3) + "|")
    for clip in arguments.clips:
        for preset in ("fast", "balanced", "best"):
            rates = {mode: [] for mode in ["", *modes]}
            for _ in range(3):
                for mode, found in rates.items():
                    found.append(rate(arguments, clip, preset, MODES.get(mode, [])))
            cells = [f"{statistics.median(found):.1f}" for found in rates.values()]
            print(f"| {os.path.splitext(os.path.basename(clip))[0]} | {preset} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="+", metavar="CLIP")
    parser.add_argument("--cu264", default="build/bin/cu264")
    parser.add_argument("--edge-quality", default="build/bin/edge_quality")
    parser.add_argument("--preset", default="fast")
    parser.add_argument("--qp", default="24,30,36")
    parser.add_argument("--frames", type=int, default=0)
    parser.add_argument("--modes", help=f"of {'; '.join(MODES)}; separated by semicolons")
    parser.add_argument("--speed", action="store_true")
    arguments = parser.parse_args()
    modes = [mode.strip() for mode in arguments.modes.split(";")] if arguments.modes else list(MODES)
    for mode in modes:
        if mode not in MODES:
            parser.error(f"no mode is called {mode!r}; there are {', '.join(map(repr, MODES))}")
    (time_modes if arguments.speed else compare)(arguments, modes)


if __name__ == "__main__":
    main()
