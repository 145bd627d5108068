#!/usr/bin/env python3
"""What all-intra costs beside inter prediction: sizes and luma PSNR of one crf, by cu264 and by libx264 through FFmpeg, and the
size at which libx264 with inter prediction has the PSNR of cu264.

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
    """Of all pictures together, from their mean squared error."""
    graph = "[0:v]format=yuv420p,setpts=N/25/TB[a];[1:v]format=yuv420p,setpts=N/25/TB[b];[a][b]psnr"
    text = run("ffmpeg", "-v", "info", "-nostats", "-i", coded, "-i", source, "-lavfi", graph, "-f", "null", "-")
    return float(re.search(r"PSNR y:([\d.]+)", text).group(1))


def x264(source, output, crf, gop):
    run("ffmpeg", "-v", "error", "-y", "-i", source, "-an", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "medium", "-crf", crf,
        "-g", gop, output)
    return os.path.getsize(output), luma_psnr(output, source)


def inter_bytes_at(psnr, source, folder):
    """libx264's bytes at a PSNR, log-linear between the two whole crfs around it."""
    above = None
    for crf in range(8, 44, 2):
        size, quality = x264(source, os.path.join(folder, "inter.264"), crf, 250)
        if quality <= psnr and above:
            share = (above[1] - psnr) / (above[1] - quality)
            return math.exp((1 - share) * math.log(above[0]) + share * math.log(size))
        above = (size, quality)
    raise SystemExit("no crf of libx264 has %.2f dB on %s" % (psnr, source))


def main():
    parser = argparse.ArgumentParser(description="Sizes and PSNR of all-intra beside inter prediction.")
    parser.add_argument("--cu264", default="build/bin/cu264")
    parser.add_argument("--crf", type=int, default=23)
    parser.add_argument("clips", nargs="+")
    args = parser.parse_args()
    print("| clip | cu264, kB | dB | libx264, all-intra, kB | dB | libx264, GOP 250, kB | dB | its bytes at cu264's dB, kB | cu264 is larger by |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    factors = []
    with tempfile.TemporaryDirectory() as folder:
        for clip in args.clips:
            ours = os.path.join(folder, "ours.264")
            run(args.cu264, "encode", "-q", "-y", clip, ours, "--crf", args.crf, "--headers", "first")
            size, psnr = os.path.getsize(ours), luma_psnr(ours, clip)
            intra = x264(clip, os.path.join(folder, "intra.264"), args.crf, 1)
            inter = x264(clip, os.path.join(folder, "inter.264"), args.crf, 250)
            equal = inter_bytes_at(psnr, clip, folder)
            factors.append(size / equal)
            print("| %s | %.1f | %.2f | %.1f | %.2f | %.1f | %.2f | %.1f | %.2f times |" % (
                os.path.splitext(os.path.basename(clip))[0], size / 1000, psnr, intra[0] / 1000, intra[1], inter[0] / 1000, inter[1],
                equal / 1000, factors[-1]))
    mean = math.exp(sum(math.log(factor) for factor in factors) / len(factors))
    print("| geometric mean | | | | | | | | %.2f times |" % mean)


if __name__ == "__main__":
    main()
