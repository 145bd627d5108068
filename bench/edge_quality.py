#!/usr/bin/env python3
"""Compares cu264's edges with OpenCV's on pictures that people have marked, and checks that they are good enough.

    pip install opencv-python-headless
    bench/edge_quality.py FOLDER [--program build/bin/edge_quality] [--sigma 14]

FOLDER holds uded/ and bsds500/ in the form that edge_quality reads. OpenCV's Canny takes its thresholds from the median
(2/3 and 4/3 of it) or from Otsu's threshold (half of it, and itself). All maps are measured by edge_quality.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import cv2
import numpy

SETS = ("uded", "bsds500")


def median_pair(gray):
    median = float(numpy.median(gray))
    return max(0.0, 0.67 * median), min(255.0, 1.33 * median)


def otsu_pair(gray):
    high, _ = cv2.threshold(gray, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    return 0.5 * high, high


PEERS = {
    "OpenCV, median, no blur": (0, median_pair),
    "OpenCV, median, blur 1": (1.0, median_pair),
    "OpenCV, Otsu, blur 1": (1.0, otsu_pair),
}


def write_maps(folder, target, blur, pair_of):
    for name_of_set in SETS:
        os.makedirs(os.path.join(target, name_of_set))
        for name in sorted(os.listdir(os.path.join(folder, name_of_set))):
            stem, extension = os.path.splitext(name)
            if extension not in (".png", ".jpg") or stem.endswith("_gt"):
                continue
            gray = cv2.imread(os.path.join(folder, name_of_set, name), cv2.IMREAD_GRAYSCALE)
            if blur:
                gray = cv2.GaussianBlur(gray, (0, 0), blur)
            cv2.imwrite(os.path.join(target, name_of_set, stem + ".png"), cv2.Canny(gray, *pair_of(gray)))


def summary(text):
    """{method: {column: figure}} of edge_quality's second table."""
    lines = text[text.index("| method"):].splitlines()
    columns = ["method", "UDED MSE", "UDED P", "UDED R", "UDED F", "BSDS MSE", "BSDS P", "BSDS R", "BSDS F", "mean F"]
    rows = {}
    for line in lines[2:]:
        cells = [cell.strip() for cell in line.strip("|\n ").split("|")]
        if len(cells) == len(columns):
            rows[cells[0]] = dict(zip(columns[1:], map(float, cells[1:])))
            rows[cells[0]]["mean MSE"] = (rows[cells[0]]["UDED MSE"] + rows[cells[0]]["BSDS MSE"]) / 2
    return rows


def check(rows):
    """(text, holds) of everything that must hold; then of what may."""
    musts, mays = [], []

    for candidates in ("C0.01", "C0.03"):
        frame, parts = rows[f"{candidates}, frame-level"], rows[f"{candidates}, distributed 32xH"]
        musts.append((f"{candidates}: distributed MSE <= 1.05 x frame-level: {parts['mean MSE']:.4f}, "
                      f"{frame['mean MSE']:.4f}", parts["mean MSE"] <= 1.05 * frame["mean MSE"]))
        musts.append((f"{candidates}: distributed F >= 0.97 x frame-level: {parts['mean F']:.4f}, {frame['mean F']:.4f}",
                      parts["mean F"] >= 0.97 * frame["mean F"]))
    for part in ("frame-level", "distributed 32xH"):
        fine, coarse = rows[f"C0.01, {part}"], rows[f"C0.03, {part}"]
        musts.append((f"{part}: C0.03 MSE <= 1.02 x C0.01: {coarse['mean MSE']:.4f}, {fine['mean MSE']:.4f}",
                      coarse["mean MSE"] <= 1.02 * fine["mean MSE"]))
        musts.append((f"{part}: C0.03 F >= 0.99 x C0.01: {coarse['mean F']:.4f}, {fine['mean F']:.4f}",
                      coarse["mean F"] >= 0.99 * fine["mean F"]))
    ours = rows["C0.03, distributed 32xH"]["mean F"]
    for peer in ("OpenCV, median, no blur", "OpenCV, median, blur 1"):
        musts.append((f"mean F not below {peer}: {ours:.4f}, {rows[peer]['mean F']:.4f}", ours >= rows[peer]["mean F"]))
    for peer in ("OpenCV, Otsu, blur 1", "constant pair (0.08, 0.19)"):
        for name in rows:
            if name.startswith("C0.03, dist") or name.startswith("density"):
                mays.append((f"mean F of {name} above {peer}: {rows[name]['mean F']:.4f}, {rows[peer]['mean F']:.4f}",
                             rows[name]["mean F"] > rows[peer]["mean F"]))
    return musts, mays


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--program", default="build/bin/edge_quality")
    parser.add_argument("--sigma", default="14", help="of cu264's Gaussian, in tenths")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        command = [options.program, options.folder, "--sigma", options.sigma]
        for number, (name, (blur, pair_of)) in enumerate(PEERS.items()):
            maps = os.path.join(scratch, str(number))
            write_maps(options.folder, maps, blur, pair_of)
            command += ["--map", f"{name}={maps}"]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    print(text)
    musts, mays = check(summary(text))
    print("Must hold (a mean is over UDED and BSDS, each set counting once):\n")
    for line, holds in musts:
        print(f"- {'yes' if holds else 'NO'}: {line}")
    print("\nWanted:\n")
    for line, holds in mays:
        print(f"- {'yes' if holds else 'no'}: {line}")
    return 0 if all(holds for _, holds in musts) else 1


if __name__ == "__main__":
    sys.exit(main())
