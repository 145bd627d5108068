#!/usr/bin/env python3
"""What all-intra costs beside inter prediction: sizes and luma PSNR of one crf, by cu264 without and with P pictures and by libx264
through FFmpeg, and the sizes at which libx264 with inter prediction has the PSNR of cu264.

  bench/inter_prediction.py [--cu264 COMMAND] [--crf N] CLIP...
"""
import argparse
import math
import os
import re
import subprocess
import tempfile


def run(*command):
    done = subprocess.run([str(each) for each in command], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)
    return done.stdout


def luma_psnr(coded, source):
    """Of all pictures together, from their mean squared error. Pictures are paired by their number: the clock of a file may be too
    coarse for 25 a second, so they get another one."""
    graph = "[0:v]format=yuv420p,settb=1/25,setpts=N[a];[1:v]format=yuv420p,settb=1/25,setpts=N[b];[a][b]psnr"
    text = run("ffmpeg", "-v", "info", "-nostats", "-i", coded, "-i", source, "-lavfi", graph, "-f", "null", "-")
    return float(re.search(r"PSNR y:([\d.]+)", text).group(1))


def x264(source, output, crf, gop):
    run("ffmpeg", "-v", "error", "-y", "-i", source, "-an", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "medium", "-crf", crf,
        "-g", gop, output)
    return os.path.getsize(output), luma_psnr(output, source)


def cu264(command, source, output, crf, gop):
    run(command, "encode", "-q", "-y", source, output, "--crf", crf, "--gop", gop, "--headers", "first")
    return os.path.getsize(output), luma_psnr(output, source)


def inter_sizes(source, folder):
    """libx264's bytes and PSNR at every second crf, the best picture first."""
    return [x264(source, os.path.join(folder, "inter.264"), crf, 250) for crf in range(8, 44, 2)]


def bytes_at(psnr, sizes):
    """The bytes at a PSNR, log-linear between the two sizes around it."""
    for better, worse in zip(sizes, sizes[1:]):
        if worse[1] <= psnr <= better[1]:
            share = (better[1] - psnr) / (better[1] - worse[1])
            return math.exp((1 - share) * math.log(better[0]) + share * math.log(worse[0]))
    raise SystemExit("no crf of libx264 has %.2f dB" % psnr)


def table(columns, rows, factors):
    print("| " + " | ".join(columns) + " |")
    print("|---|" + "---:|" * (len(columns) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    mean = math.exp(sum(math.log(factor) for factor in factors) / len(factors))
    print("| geometric mean |" + " |" * (len(columns) - 2) + " %.2f times |\n" % mean)


def main():
    parser = argparse.ArgumentParser(description="Sizes and PSNR of all-intra beside inter prediction.")
    parser.add_argument("--cu264", default="build/bin/cu264")
    parser.add_argument("--crf", type=int, default=23)
    parser.add_argument("clips", nargs="+")
    args = parser.parse_args()
    rows, factors = {1: [], 250: []}, {1: [], 250: []}
    with tempfile.TemporaryDirectory() as folder:
        for clip in args.clips:
            output = os.path.join(folder, "coded.264")
            intra, inter = x264(clip, output, args.crf, 1), x264(clip, output, args.crf, 250)
            sizes = inter_sizes(clip, folder)
            for gop, others in ((1, [intra, inter]), (250, [inter])):
                ours = cu264(args.cu264, clip, output, args.crf, gop)
                equal = bytes_at(ours[1], sizes)
                factors[gop].append(ours[0] / equal)
                cells = ["%.1f | %.2f" % (size / 1000, psnr) for size, psnr in [ours] + others]
                name = os.path.splitext(os.path.basename(clip))[0]
                rows[gop].append([name] + cells + ["%.1f" % (equal / 1000), "%.2f times" % factors[gop][-1]])
    inter = ["libx264, GOP 250, kB", "dB", "its bytes at cu264's dB, kB", "cu264 is larger by"]
    print("Every picture a key picture:\n")
    table(["clip", "cu264, kB", "dB", "libx264, all-intra, kB", "dB"] + inter, rows[1], factors[1])
    print("With `--gop 250`:\n")
    table(["clip", "cu264, GOP 250, kB", "dB"] + inter, rows[250], factors[250])


if __name__ == "__main__":
    main()
