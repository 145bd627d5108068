#!/usr/bin/env python3
"""Processor time of P pictures on the CPU beside x264 with the same tools: no B pictures, one reference, CABAC, the same QP.

  bench/p_picture_speed.py [--cu264 COMMAND] [--rounds N] [--threads 1,2] CLIP.y4m...

The least of some runs counts, user and system time together: other work on the machine disturbs it less than wall time, which is the
last column.
"""
import argparse
import os
import resource
import subprocess
import tempfile
import time

PRESETS = ("fast", "balanced", "best")


def run(command):
    """Processor and wall time in seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start


def pictures(clip):
    """In a 4:2:0 Y4M file of 8 bits without parameters of pictures."""
    with open(clip, "rb") as file:
        header = file.readline()
    fields = {field[:1]: int(field[1:]) for field in header.split()[1:] if field[:1] in (b"W", b"H")}
    width, height = fields[b"W"], fields[b"H"]
    chroma = (width + 1) // 2 * ((height + 1) // 2)
    return (os.path.getsize(clip) - len(header)) // (len(b"FRAME\n") + width * height + 2 * chroma)


def x264(gop, qp, threads, clip, output):
    return ["x264", "--quiet", "--no-progress", "--preset", "veryfast", "--bframes", "0", "--ref", "1", "--weightp", "0",
            "--keyint", str(gop), "--min-keyint", str(gop), "--scenecut", "0", "--qp", str(qp), "--threads", str(threads),
            "-o", output, clip]


def cu264(command, preset, gop, qp, threads, clip, output):
    return [command, "encode", clip, output, "--backend", "cpu", "--gop", str(gop), "--qp", str(qp), "--preset", preset,
            "--profile", "high", "--threads", str(threads)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="+", metavar="CLIP")
    parser.add_argument("--cu264", default="cu264", help="(%(default)s)")
    parser.add_argument("--gop", type=int, default=30, help="(%(default)s)")
    parser.add_argument("--qp", type=int, default=27, help="(%(default)s)")
    parser.add_argument("--presets", default="fast", help="(%(default)s), of " + ", ".join(PRESETS))
    parser.add_argument("--threads", default="1", help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="(%(default)s)")
    arguments = parser.parse_args()
    print("| clip | encoder | threads | processor ms a picture | speed against x264 veryfast | bytes | wall ms a picture |")
    print("|---|---|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.264")
        for clip in arguments.clips:
            count, base = pictures(clip), 0.0
            for threads in arguments.threads.split(","):
                rest = (arguments.gop, arguments.qp, threads, clip, output)
                encoders = {"x264 veryfast": x264(*rest)} if threads == "1" else {}
                for preset in arguments.presets.split(","):
                    encoders[preset] = cu264(arguments.cu264, preset, *rest)
                for name, command in encoders.items():
                    times = []
                    for _ in range(arguments.rounds):
                        if os.path.exists(output):
                            os.remove(output)
                        times.append(run(command))
                    processor, wall = min(each[0] for each in times), min(each[1] for each in times)
                    base = base or processor
                    print("| %s | %s | %s | %.2f | %.2f | %d | %.2f |" % (
                        os.path.splitext(os.path.basename(clip))[0], name, threads, 1000 * processor / count, base / processor,
                        os.path.getsize(output), 1000 * wall / count))


if __name__ == "__main__":
    main()
