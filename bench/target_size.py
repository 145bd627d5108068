#!/usr/bin/env python3
"""Measures how near --target-size ends to its target, in how many passes, and how far its crf moves within the file.

    bench/target_size.py [--cu264 build/bin/cu264] [--preset balanced] [--targets 10] CLIP [CLIP ...]

Codes each clip at crf 14 and 38, spreads the targets evenly over the logarithm of the sizes between, and prints a row for each: passes,
per cent below the target, and the crf of the last pass, at the least and most.
"""
import argparse
import math
import os
import re
import subprocess
import tempfile


def encode(options, clip, out, *more):
    done = subprocess.run([options.cu264, "encode", clip, "-o", out, "-y", "--verbose", "--preset", options.preset, "--backend",
                           options.backend, *map(str, more)], check=True, stderr=subprocess.PIPE, text=True)
    return os.path.getsize(out), done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="+", metavar="CLIP")
    parser.add_argument("--cu264", default="build/bin/cu264")
    parser.add_argument("--preset", default="balanced")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--targets", type=int, default=10)
    options = parser.parse_args()
    print("| clip | target, bytes | passes | below, % | lowest crf | highest crf | of the second half |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.mkv")
        for clip in options.clips:
            most, least = (math.log(encode(options, clip, out, "--crf", crf)[0]) for crf in (14, 38))
            for number in range(options.targets):
                target = round(math.exp(least + (most - least) * (number + 0.5) / options.targets))
                size, said = encode(options, clip, out, "--target-size", target)
                passes = re.search(r"found in (\d+) pass", said)[1]
                lowest, highest, half_lowest, half_highest = re.findall(
                    r"crf ([\d.]+) to ([\d.]+), in the second half ([\d.]+) to ([\d.]+), takes", said)[-1]
                print(f"| {os.path.basename(clip)} | {target} | {passes} | {100 * (1 - size / target):.2f} | {lowest} | {highest} | "
                      f"{half_lowest} to {half_highest} |", flush=True)


if __name__ == "__main__":
    main()
