#!/usr/bin/env python3
"""Compares adaptive quantisation, edge-guided and by variance, with one QP at equal bitrate: edge fidelity F and SSIM.

    bench/aq_quality.py CLIP... [--cu264 build/bin/cu264] [--edge-quality build/bin/edge_quality]
                                [--preset fast] [--qp 24,30,36] [--frames N]

Each clip is encoded at each --qp with one QP for all macroblocks, which gives the bitrate. Each adaptive mode is then
encoded at the two neighbouring QPs whose bitrates lie on either side of it, and its figures are interpolated to that
bitrate, linearly in the logarithm of the size. F is that of edge_quality --fidelity, which compares the
edge maps of the decoded pictures with those of the source. Prints one table of means over clips and QPs, with the
standard error over clips of the change of F and the number of clips that gain, and one table with the mean over the
QPs of each clip. A picture (.png, .jpg) is a clip of one frame.
"""
import argparse
import json
import math
import os
import re
import subprocess
import tempfile

MODES = {
    "edge-guided 1": ["--edge-guided=1"],
    "edge-guided 2": ["--edge-guided=2"],
    "edge-guided 3": ["--edge-guided=3"],
    "aq variance": ["--aq", "variance"],
}


class Meter:
    """Encodes one clip and measures the result: (bytes, F, SSIM)."""

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
                   "--profile", "baseline", "--preset", self.arguments.preset, "--ssim", "--stats", stats, "--quiet", "-y",
                   *options]
        if self.arguments.frames:
            command += ["--frames", str(self.arguments.frames)]
        subprocess.run(command, check=True)
        with open(stats, encoding="utf-8") as file:
            ssim = ssim_of(json.load(file))
        text = subprocess.run([self.arguments.edge_quality, "--fidelity", self.clip, stream], check=True,
                              capture_output=True, text=True).stdout
        return os.path.getsize(stream), float(re.search(r"mean F ([0-9.]+)", text).group(1)), ssim

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


def ssim_of(stats):
    return stats["totals"]["ssim"]


def mean(values):
    return sum(values) / len(values)


def standard_error(values):
    if len(values) < 2:
        return math.inf
    return math.sqrt(sum((v - mean(values)) ** 2 for v in values) / (len(values) - 1) / len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="+", metavar="CLIP")
    parser.add_argument("--cu264", default="build/bin/cu264")
    parser.add_argument("--edge-quality", default="build/bin/edge_quality")
    parser.add_argument("--preset", default="fast")
    parser.add_argument("--qp", default="24,30,36")
    parser.add_argument("--frames", type=int, default=0)
    arguments = parser.parse_args()
    rows = {mode: {} for mode in MODES}
    for clip in arguments.clips:
        name = os.path.splitext(os.path.basename(clip))[0]
        with tempfile.TemporaryDirectory() as folder:
            meter = Meter(arguments, clip, folder)
            for qp in map(int, arguments.qp.split(",")):
                plain = meter(qp, [])
                for mode, options in MODES.items():
                    found, size = meter.at_size(plain[0], qp, options)
                    rows[mode].setdefault(name, []).append(
                        (plain[1], found[1], plain[2], found[2], 100 * (size / plain[0] - 1)))
    print(f"QP {arguments.qp}, preset {arguments.preset}, at the bitrate of one QP for all macroblocks\n")
    print("| mode | F, one QP | F | change | clips that gain | SSIM, one QP | SSIM | change | size at the same --qp |")
    print("|---|---|---|---|---|---|---|---|---|")
    for mode, clips in rows.items():
        means = [tuple(map(mean, zip(*cells))) for cells in clips.values()]
        f0, f1, s0, s1, size = map(mean, zip(*means))
        gains = [cell[1] - cell[0] for cell in means]
        print(f"| {mode} | {f0:.4f} | {f1:.4f} | {f1 - f0:+.4f} ± {standard_error(gains):.4f} | "
              f"{sum(gain > 0 for gain in gains)} of {len(gains)} | {s0:.5f} | {s1:.5f} | {s1 - s0:+.5f} | {size:+.1f} % |")
    print("\n| clip | " + " | ".join(f"{mode}: F, SSIM, size" for mode in MODES) + " |")
    print("|---" * (len(MODES) + 1) + "|")
    for name in next(iter(rows.values())):
        cells = []
        for clips in rows.values():
            f0, f1, s0, s1, size = map(mean, zip(*clips[name]))
            cells.append(f"{f1 - f0:+.4f}, {s1 - s0:+.5f}, {size:+.1f} %")
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
