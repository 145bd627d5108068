#!/usr/bin/env python3
"""Fits and checks the model by which rate control predicts the size of a picture.

  bench/rate_model.py PROGRAMS CLIP...          the model's error over clips and QPs, and crf beside x264's
  bench/rate_model.py --fit PROGRAMS CLIP...    prints a table for encoder/rate_control/model_table.h

PROGRAMS is the folder of cu264 and picture_measures. Encodes every clip at nine QPs, with all presets and with
adaptive quantisation on and off (--aq variance, --aq off). What is encoded is kept in rate_model.json. Needs numpy and
ffmpeg; x264 for the crf table.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

QPS = [10, 16, 20, 24, 28, 32, 36, 40, 46]
CRFS = [18, 23, 28, 33]
PRESETS = ["fast", "balanced", "best"]
KNOTS = [12, 20, 28, 36, 44]
SMOOTHNESS = 0.01  # what a difference between the weights of two knots costs
ROBUST = 0.08      # errors above this count linearly
# Clips whose noise lies at the edge of the dead zone, where a step of QP changes sizes by a factor: they count less.
UNNATURAL = ("dark", "flat", "drawn_waves")
TRUST_OF_QP = [10, 16, 20, 40, 46], [0.4, 0.7, 1, 1, 0.4]
CACHE = "rate_model.json"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def encode(programs, clip, preset, aq, qp, folder):
    stats = os.path.join(folder, "stats.json")
    stream = os.path.join(folder, "%s_%s_%d.264" % (preset, aq, qp))
    output(os.path.join(programs, "cu264"), "encode", clip, "-o", stream, "--backend", "cpu", "--qp", str(qp), "--profile",
           "baseline", "--preset", preset, "--aq", aq, "--stats", stats)
    with open(stats, encoding="utf-8") as file:
        return [picture["bytes"] for picture in json.load(file)["pictures"]]


def x264_sizes(raw, size, crf, folder):
    """Bytes of each picture but the first, for which x264 has another rule."""
    done = subprocess.run(["x264", "--input-res", size, "--fps", "25", "--keyint", "1", "--crf", str(crf), "--verbose",
                           "--no-progress", "-o", os.path.join(folder, "x.264"), raw], check=True, capture_output=True,
                          text=True)
    return [int(found) for found in re.findall(r"size=(\d+) bytes", done.stderr)][1:]


def measure(programs, clip):
    with tempfile.TemporaryDirectory() as folder:
        size = output("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=width,height", "-of",
                      "csv=p=0:s=x", clip).strip()
        raw = os.path.join(folder, "raw.yuv")
        output("ffmpeg", "-v", "error", "-i", clip, "-vsync", "0", "-pix_fmt", "yuv420p", raw)
        found = {"sizes": {}, "x264": {str(crf): x264_sizes(raw, size, crf, folder) for crf in CRFS}}
        for aq in ("off", "variance"):
            lines = output(os.path.join(programs, "picture_measures"), raw, size, str(int(aq == "variance")))
            found[aq] = [json.loads(line) for line in lines.splitlines()]
            for preset in PRESETS:
                for qp in QPS:
                    found["sizes"]["%s %s %d" % (preset, aq, qp)] = encode(programs, clip, preset, aq, qp, folder)
        return found


def survivors(histogram, qp):
    """Returns how many strengths survive a QP, interpolated within bins (core/picture_measure.h)."""
    starts = [0, 494, 899, 1240]
    bins = len(histogram)
    first = [((b // 4) * 1536 + starts[b % 4] - 3888) / 256 for b in range(bins + 1)]
    return np.interp(qp, first, np.append(np.cumsum(np.array(histogram, float)[::-1])[::-1], 0))


def doublings(histogram, qp):
    return sum(survivors(histogram, qp + 6 * octave) for octave in range(1, 16))


def chroma_qp(qp):
    table = list(range(30)) + [29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36, 36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39]
    return np.interp(qp, range(52), table)


def features(m, qp):
    shift = m["weights"] / m["measured"] / 256 * m["aq_strength"] / 256
    luma, chroma = qp - shift, chroma_qp(qp) - shift
    counts = [m["measured"], survivors(m["luma_two_groups"], luma), survivors(m["luma_all_groups"], luma),
              survivors(m["luma_levels"], luma), doublings(m["luma_levels"], luma), survivors(m["splits"], luma),
              survivors(m["splits"], luma + 9), survivors(m["chroma_blocks"], chroma), survivors(m["chroma_levels"], chroma),
              doublings(m["chroma_levels"], chroma)]
    return np.array(counts) * m["macroblocks"] / m["measured"]


def nonnegative(a, b, rounds=600):
    """Least squares with weights that are not negative, coordinate by coordinate."""
    x, gram, target = np.zeros(a.shape[1]), a.T @ a, a.T @ b
    for _ in range(rounds):
        for j in range(len(x)):
            if gram[j, j] > 0:
                x[j] = max(0.0, x[j] + (target[j] - gram[j] @ x) / gram[j, j])
    return x


def fit(data, preset):
    rows, trust, qps = [], [], []
    for clip, found in data.items():
        for aq in ("off", "variance"):
            for qp in QPS:
                for m, size in zip(found[aq], found["sizes"]["%s %s %d" % (preset, aq, qp)]):
                    rows.append(features(m, qp) / (8 * size))
                    trust.append((0.3 if clip.startswith(UNNATURAL) else 1.0) * np.interp(qp, *TRUST_OF_QP))
                    qps.append(qp)
    rows, trust, qps = np.array(rows), np.array(trust), np.array(qps)
    count = rows.shape[1]
    shares = np.array([np.interp(qps, KNOTS, np.eye(len(KNOTS))[k]) for k in range(len(KNOTS))]).T
    a = np.einsum("nk,nf->nkf", shares, rows).reshape(len(rows), -1)
    typical = np.array([rows[qps == qp].mean(axis=0) for qp in (10, 20, 28, 36, 46)])
    smooth = []
    for knot in range(len(KNOTS) - 1):
        for feature in range(count):
            row = np.zeros(a.shape[1])
            row[knot * count + feature] = np.sqrt(typical[knot, feature] * typical[knot + 1, feature])
            row[(knot + 1) * count + feature] = -row[knot * count + feature]
            smooth.append(row)
    smooth = np.array(smooth) * np.sqrt(SMOOTHNESS * len(rows))
    weights = np.zeros(a.shape[1])
    for turn in range(6):
        error = a @ weights - 1 if turn else np.zeros(len(rows))
        factor = np.sqrt(trust * ROBUST / np.maximum(np.abs(error), ROBUST))
        stacked = np.vstack([a * factor[:, None], smooth])
        norm = np.linalg.norm(stacked, axis=0) + 1e-12
        weights = nonnegative(stacked / norm, np.append(factor, np.zeros(len(smooth)))) / norm
    return weights.reshape(len(KNOTS), count)


def rms(values):
    return 100 * np.sqrt(np.mean(np.square(values)))


def report(data):
    print("| preset, aq | " + " | ".join("QP %d" % qp for qp in QPS) + " | slope |\n|" + "---|" * (len(QPS) + 2))
    for preset in PRESETS:
        for aq in ("off", "variance"):
            logs = []  # [picture][QP] of predicted over true size
            for found in data.values():
                sizes = [found["sizes"]["%s %s %d" % (preset, aq, qp)] for qp in QPS]
                logs += [[np.log(m[preset][qp] / (8 * sizes[i][n])) for i, qp in enumerate(QPS)]
                         for n, m in enumerate(found[aq])]
            logs = np.array(logs)
            slopes = (np.diff(logs, axis=1) / np.diff(QPS))[:, 2:7]
            print("| %s, %s | " % (preset, aq) + " | ".join("%.1f" % rms(np.expm1(column)) for column in logs.T) +
                  " | %.1f |" % rms(slopes))
    print("\n| clip | " + " | ".join("crf %d" % crf for crf in CRFS) + " |\n|" + "---|" * (len(CRFS) + 1))
    ratios = []
    for clip, found in data.items():
        row = []
        for crf in CRFS:
            ours = 0.0
            for n, m in enumerate(found["variance"]):
                if n == 0:
                    continue
                logs = [np.log(found["sizes"]["balanced variance %d" % qp][n]) for qp in QPS]
                ours += np.exp(np.interp(m["qp_q8_of_crf"][crf] / 256, QPS, logs))
            row.append(ours / sum(found["x264"][str(crf)]))
        ratios.append(row)
        print("| %s | " % os.path.splitext(clip)[0] + " | ".join("%.2f" % ratio for ratio in row) + " |")
    print("| mean | " + " | ".join("%.3f" % mean for mean in np.mean(ratios, axis=0)) + " |")


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--fit"]
    if len(arguments) < 2 or arguments[0].startswith("-"):
        sys.exit(__doc__)
    known = {}
    if os.path.exists(CACHE):
        with open(CACHE, encoding="utf-8") as file:
            known = json.load(file)
    data = {}
    for clip in arguments[1:]:
        name = os.path.basename(clip)
        if name not in known:
            known[name] = measure(arguments[0], clip)
            with open(CACHE, "w", encoding="utf-8") as file:
                json.dump(known, file)
        data[name] = known[name]
    if "--fit" not in sys.argv:
        return report(data)
    for preset in PRESETS:
        print("  static constexpr BitWeights %s[kWeightRows] = {" % preset)
        for row in fit(data, preset):
            print("      {{%s}}," % ", ".join(str(round(256 * weight)) for weight in row))
        print("  };")
    return None


if __name__ == "__main__":
    main()
