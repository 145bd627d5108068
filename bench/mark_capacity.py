#!/usr/bin/env python3
"""Measures how much payload a clip holds while it is encoded, by scheme and spread.

  bench/mark_capacity.py CLIP... [--cu264 build/bin/cu264] [--frames 10] [--qp 24] [--density 4096]

For each clip, scheme and spread, an encode of a payload that is too large tells what the clip holds. A payload of that
size is then encoded and read back. Prints a Markdown table: bits of payload that fit when bits are drawn at random, when
they are coded, and how often the payload of that size was read back.
"""
import argparse
import os
import re
import subprocess
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="+")
    parser.add_argument("--cu264", default="build/bin/cu264")
    parser.add_argument("--frames", type=int, default=10)
    parser.add_argument("--qp", type=int, default=24)
    parser.add_argument("--density", type=int, default=4096)
    arguments = parser.parse_args()
    environment = dict(os.environ, CU264_KEY="26" * 32)

    with tempfile.TemporaryDirectory() as folder:
        payload, marked, found = (os.path.join(folder, name) for name in ("payload", "marked.264", "found"))

        def encode(clip, scheme, spread, data):
            with open(payload, "wb") as out:
                out.write(data)
            return subprocess.run(
                [arguments.cu264, "encode", clip, "-o", marked, "--frames", str(arguments.frames), "--qp", str(arguments.qp),
                 "--quiet", "--profile", "baseline", "--watermark", scheme, "--watermark-spread", spread, "--density",
                 str(arguments.density), "--payload", payload], env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)

        print("| clip | scheme | drawn, bits | coded, bits | times | read back |\n|---|---|---|---|---|---|")
        for clip in arguments.clips:
            for scheme in ("t1-sign", "t1-parity"):
                held, read = {}, []
                for spread in ("drawn", "coded"):
                    told = re.search(rb"can hold ([0-9]+)", encode(clip, scheme, spread, os.urandom(1 << 20)).stderr)
                    held[spread] = int(told.group(1))
                    if held[spread] == 0:
                        continue
                    data = os.urandom(held[spread])
                    done = encode(clip, scheme, spread, data)
                    if done.returncode == 0:
                        subprocess.run([arguments.cu264, "watermark", "extract", marked, "-o", found], env=environment, check=True)
                        with open(found, "rb") as file:
                            read.append(file.read() == data)
                    else:
                        read.append(False)
                times = f"{held['coded'] / held['drawn']:.1f}" if held["drawn"] else "-"
                print(f"| {os.path.splitext(os.path.basename(clip))[0]} | {scheme} | {8 * held['drawn']} | {8 * held['coded']} | "
                      f"{times} | {sum(read)} of {len(read)} |", flush=True)


if __name__ == "__main__":
    main()
