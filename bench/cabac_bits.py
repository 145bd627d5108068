#!/usr/bin/env python3
"""The bytes of CABAC against those of CAVLC, by QP and preset.

  bench/cabac_bits.py [--program build/bin/cu264] CLIP...

Both code the same macroblocks, so quality is the same and the difference in bytes is all there is. The numbers are means over
the clips, in percent; negative is smaller with CABAC. x264 (medium, all-intra, 4x4 transform, no adaptive quantisation) stands
beside it, whose decisions differ by coder: its column is bytes too, so that quality differs a little.

Needs Python; for x264's column the x264 command. Tables are Markdown on standard output.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

QPS = (0, 4, 8, 12, 17, 22, 27, 32, 37, 42, 47, 51)
PRESETS = ("fast", "balanced", "best")


def size_of(command, output):
    subprocess.run([*command, output], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return os.path.getsize(output)


def cu264(program, clip, qp, preset, output):
    command = [program, "encode", clip, "--backend", "cpu", "--qp", str(qp), "--preset", preset, "--quiet", "-y"]
    baseline = size_of([*command, "--profile", "baseline", "-o"], output)
    return 100 * (size_of([*command, "--profile", "main", "-o"], output) / baseline - 1)


def x264(clip, qp, output):
    command = ["x264", "--quiet", "--preset", "medium", "--tune", "psnr", "--keyint", "1", "--no-8x8dct", "--aq-mode", "0",
               "--ipratio", "1", "--qp", str(qp), clip]
    baseline = size_of([*command, "--no-cabac", "-o"], output)
    return 100 * (size_of([*command, "-o"], output) / baseline - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/bin/cu264")
    parser.add_argument("clips", nargs="+")
    options = parser.parse_args()
    columns = [*PRESETS, *(["x264 medium"] if shutil.which("x264") else [])]
    print("| QP | " + " | ".join(columns) + " |\n|---:|" + "---:|" * len(columns))
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "out.264")
        for qp in QPS:
            cells = [statistics.mean(cu264(options.program, clip, qp, preset, output) for clip in options.clips)
                     for preset in PRESETS]
            if len(columns) > len(PRESETS):  # x264's QP 0 is lossless, which is another profile
                cells.append(statistics.mean(x264(clip, qp, output) for clip in options.clips) if qp > 0 else None)
            print(f"| {qp} | " + " | ".join("-" if cell is None else f"{cell:+.1f} %" for cell in cells) + " |",
                  flush=True)


if __name__ == "__main__":
    sys.exit(main())
