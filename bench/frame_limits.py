#!/usr/bin/env python3
"""Tests that pictures keep to --max-frame-bytes whatever they show, with the command on pictures made to be hard.

    bench/frame_limits.py [--cu264 build/bin/cu264] [--pictures 10000] [--size 96x80] [--preset fast]

Makes a clip whose pictures have nothing to do with each other: black, noise of any strength, lone bright samples, checks, gradients,
text-like bars, saturated colours, and halves of two of these. Codes it under a limit in each of several modes and prints a table: the
pictures above the limit by the access units of the file, those left out because QP 51 is too large, and how much of the limit was used by
pictures that have more without one.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile


def flat(width, height, chance):
    return bytes([chance.choice((0, 16, 128, 235, 255))]) * (width * height)


def noise(width, height, chance):
    low, strength = chance.randrange(200), chance.choice((2, 5, 12, 30, 80, 256))
    table = bytes(min(255, low + n * strength // 256) for n in range(256))
    return chance.randbytes(width * height).translate(table)


def lone_samples(width, height, chance):
    rare = chance.choice((1, 4, 16))
    return chance.randbytes(width * height).translate(bytes(255 if n < rare else 16 for n in range(256)))


def checks(width, height, chance):
    side, dark, light = chance.choice((1, 2, 3, 8)), chance.randrange(128), chance.randrange(128, 256)
    return bytes((dark, light)[(x // side + y // side) % 2] for y in range(height) for x in range(width))


def gradient(width, height, chance):
    dx, dy = chance.randrange(-4, 5), chance.randrange(-4, 5)
    return bytes((x * dx + y * dy + 128) % 256 for y in range(height) for x in range(width))


def bars(width, height, chance):
    line = bytes(chance.choice((16, 235)) for _ in range(width))
    return b"".join(line if y % 12 < 8 else bytes([235]) * width for y in range(height))


KINDS = (flat, noise, lone_samples, checks, gradient, bars)


def plane(width, height, chance):
    first = chance.choice(KINDS)(width, height, chance)
    if chance.random() < 0.7:
        return first
    half = height // 2 * width
    return first[:half] + chance.choice(KINDS)(width, height, chance)[half:]


def make(path, width, height, pictures):
    chance = random.Random(18)
    with open(path, "wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F25:1 Ip A1:1 C420jpeg\n".encode())
        for _ in range(pictures):
            chroma = plane if chance.random() < 0.5 else lambda w, h, c: bytes([128]) * (w * h)
            file.write(b"FRAME\n" + plane(width, height, chance))
            for _ in range(2):
                file.write(chroma(width // 2, height // 2, chance))


def encode(options, folder, *more):
    stats, out = os.path.join(folder, "stats.json"), os.path.join(folder, "out.264")
    subprocess.run([options.cu264, "encode", os.path.join(folder, "in.y4m"), "-o", out, "-y", "--preset", options.preset, "--backend",
                    "cpu", "--profile", "baseline", "--headers", "first", "--stats", stats, *map(str, more)], check=True,
                   stderr=subprocess.DEVNULL)
    with open(stats) as file:
        pictures = json.load(file)["pictures"]
    assert sum(picture["bytes"] for picture in pictures) == os.path.getsize(out), "the figures are not those of the file"
    return pictures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cu264", default="build/bin/cu264")
    parser.add_argument("--pictures", type=int, default=10000)
    parser.add_argument("--size", default="96x80")
    parser.add_argument("--preset", default="fast")
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        make(os.path.join(folder, "in.y4m"), width, height, options.pictures)
        print("| mode | limit, bytes | pictures | above | left out | could use it | mean use, % | least use, % | codings |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
        for mode in (["--qp", 10], ["--crf", 8], ["--bitrate", 3000]):
            plain = {picture["index"]: picture["bytes"] for picture in encode(options, folder, *mode)}
            for limit in (width * height // 4, width * height // 2):
                coded = encode(options, folder, *mode, "--max-frame-bytes", limit, "--on-overflow", "drop")
                above = sum(picture["bytes"] > limit for picture in coded)
                # A bitrate plans pictures by each other, so sizes without a limit say nothing of one picture there.
                uses = [picture["bytes"] / limit for picture in coded if mode[0] != "--bitrate" and plain[picture["index"]] > limit]
                use = f"{len(uses)} | {100 * statistics.mean(uses):.1f} | {100 * min(uses):.1f}" if uses else "| |"
                print(f"| {' '.join(map(str, mode))[2:]} | {limit} | {len(coded)} | {above} | {options.pictures - len(coded)} | {use} | "
                      f"{statistics.mean(picture['codings'] for picture in coded):.2f} |", flush=True)


if __name__ == "__main__":
    main()
