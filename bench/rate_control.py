#!/usr/bin/env python3
"""Measures how well rate control keeps to its targets and what it costs in quality, with the command on joined clips.

    bench/rate_control.py [--cu264 build/bin/cu264] [--x264 x264] [--pictures 600] [--size 640x360] [--preset fast] [--profile baseline] CLIP [CLIP ...]

Joins the clips, repeated, with cuts every --scene pictures, and codes them at three bitrates (those of QP 22, 27 and 32), in a buffer of
one second and with peaks, at a constant bitrate, under a limit of bytes a picture, and by crf. Prints tables: error of the whole and of
the worst second, faults of a leaky bucket, pictures coded again, and luma PSNR beside a constant QP of the same size. Where there is an
x264, its all-intra streams of the same constant QPs, and of the bitrates that these have, stand beside.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile

FPS = 25


def encode(options, source, folder, *more):
    stats = os.path.join(folder, "stats.json")
    subprocess.run([options.cu264, "encode", source, "-o", os.path.join(folder, "out.264"), "-y", "--preset", options.preset,
                    "--profile", options.profile, "--psnr", "--backend", "cpu", "--stats", stats, *map(str, more)], check=True,
                   stderr=subprocess.DEVNULL)
    with open(stats) as file:
        return json.load(file)["pictures"]


def joined(options, folder):
    """Scenes of all clips in turn, of one size and rate."""
    width, height = options.size.split("x")
    path = os.path.join(folder, "joined.y4m")
    scenes = -(-options.pictures // options.scene)
    inputs, parts = [], []
    for scene in range(scenes):
        clip = options.clips[scene % len(options.clips)]
        inputs += ["-stream_loop", "-1", "-i", clip]
        parts.append(f"[{scene}:v]setpts=N/{FPS}/TB,trim=end_frame={options.scene},scale={width}:{height},setsar=1,"
                     f"format=yuv420p[s{scene}]")
    graph = ";".join(parts) + ";" + "".join(f"[s{scene}]" for scene in range(scenes)) + f"concat=n={scenes}:v=1,fps={FPS}"
    subprocess.run(["ffmpeg", "-v", "error", "-y", *inputs, "-filter_complex", graph, "-r", str(FPS), "-frames:v", str(options.pictures),
                    path], check=True, stdin=subprocess.DEVNULL)
    return path


def x264(options, source, folder, *more):
    """The pictures of x264's stream, as encode() returns those of cu264."""
    out, psnr = os.path.join(folder, "x264.264"), os.path.join(folder, "psnr.txt")
    subprocess.run([options.x264, "--quiet", "--profile", options.profile, "--keyint", "1", "--tune", "psnr", "--fps", str(FPS), "-o", out, source,
                    *map(str, more)], check=True, stderr=subprocess.DEVNULL)
    probed = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "packet=size", "-of", "csv=p=0", out], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-r", str(FPS), "-i", out, "-r", str(FPS), "-i", source, "-lavfi",
                    f"psnr=stats_file={psnr}", "-f", "null", "-"], check=True, stdin=subprocess.DEVNULL)
    with open(psnr) as file:
        values = [float(re.search(r"psnr_y:([\d.]+)", line)[1]) for line in file]
    sizes = [int(size.rstrip(",")) for size in probed.split()]
    assert len(sizes) == len(values), f"{len(sizes)} packets, {len(values)} pictures"
    return [{"bytes": size, "psnr": {"y": value}, "codings": 1} for size, value in zip(sizes, values)]


def bucket(sizes, rate, size, cbr):
    """Faults of a buffer that is nine tenths full at first. Streams say rates in units of 64 bits a second, and sizes in those of 16 bits."""
    rate, size = rate // 64 * 64, size // 16 * 16
    fullness, faults = size // 10 * 9, 0
    for bits in sizes:
        fullness -= bits
        faults += fullness < 0
        fullness += rate / FPS
        faults += cbr and fullness > size + 1
        fullness = min(fullness, size)
    return faults


def figures(pictures, rate):
    sizes = [8 * picture["bytes"] for picture in pictures]
    whole = sum(sizes) * FPS / len(sizes) / rate - 1
    seconds = [sum(sizes[n:n + FPS]) / rate - 1 for n in range(len(sizes) - FPS + 1)]
    psnr = [picture["psnr"]["y"] for picture in pictures]
    return (f"{100 * whole:+.2f} | {100 * max(seconds, key=abs):+.1f} | "
            f"{statistics.mean(picture['codings'] for picture in pictures) - 1:.3f} | "
            f"{statistics.mean(psnr):.2f} | {statistics.pstdev(psnr):.2f}")


def parser_of(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="+", metavar="CLIP")
    parser.add_argument("--cu264", default="build/bin/cu264")
    parser.add_argument("--pictures", type=int, default=600)
    parser.add_argument("--scene", type=int, default=75)
    parser.add_argument("--size", default="640x360")
    parser.add_argument("--preset", default="fast")
    parser.add_argument("--profile", default="baseline")
    return parser


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--x264", default=shutil.which("x264"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = joined(options, folder)
        print("| mode | kbit/s | error, % | worst second, % | coded again | luma PSNR | its deviation | buffer faults |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|")
        for qp in (22, 27, 32):
            plain = encode(options, source, folder, "--qp", qp, "--aq", "off")
            rate = 1000 * round(sum(8 * picture["bytes"] for picture in plain) * FPS / len(plain) / 1000)
            print(f"| qp {qp} | {rate // 1000} | {figures(plain, rate)} | |", flush=True)
            for name, peak, seconds, cbr, more in (("bitrate", 1, 1, False, []), ("bitrate, maxrate 2x, bufsize 2 s", 2, 2, False,
                                                   ["--maxrate", 2 * rate // 1000, "--bufsize", 4 * rate // 1000]),
                                                   ("cbr", 1, 1, True, ["--cbr"])):
                coded = encode(options, source, folder, "--bitrate", rate // 1000, "--aq", "off", *more)
                sizes = [8 * picture["bytes"] for picture in coded]
                faults = bucket(sizes, peak * rate, seconds * peak * rate, cbr)
                print(f"| {name} | {rate // 1000} | {figures(coded, rate)} | {faults} |", flush=True)
            limit = rate // 8 // FPS
            coded = encode(options, source, folder, "--qp", qp, "--max-frame-bytes", limit)
            wanting = [(c, p) for c, p in zip(coded, plain) if p["bytes"] > limit]
            use = statistics.mean(c["bytes"] / limit for c, _ in wanting) if wanting else 1
            over = sum(picture["bytes"] > limit for picture in coded)
            print(f"| max-frame-bytes {limit}: {over} above, use {100 * use:.1f} % | {rate // 1000} | {figures(coded, rate)} | |",
                  flush=True)
            if not options.x264:
                continue
            plain = x264(options, source, folder, "--qp", qp)
            rate = 1000 * round(sum(8 * picture["bytes"] for picture in plain) * FPS / len(plain) / 1000)
            print(f"| x264 qp {qp} | {rate // 1000} | {figures(plain, rate)} | |", flush=True)
            kbit = rate // 1000
            for name, peak, seconds in (("bitrate", 1, 1), ("bitrate, maxrate 2x, bufsize 2 s", 2, 2)):
                coded = x264(options, source, folder, "--bitrate", kbit, "--vbv-maxrate", peak * kbit, "--vbv-bufsize",
                             seconds * peak * kbit)
                faults = bucket([8 * picture["bytes"] for picture in coded], peak * rate, seconds * peak * rate, False)
                print(f"| x264 {name} | {kbit} | {figures(coded, rate)} | {faults} |", flush=True)


if __name__ == "__main__":
    main()
