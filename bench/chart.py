#!/usr/bin/env python3
"""Draws the README's chart, docs/speed-and-bytes.svg, from the figures in bench/results.

  bench/chart.py            writes the chart
  bench/chart.py --check    fails if the chart differs from what the figures give

The GPU's bars come from encode-h200.json (tables "beside nvJPEG" and "bytes at nvJPEG's luma PSNR"), those of the
bits beside x264 from the first table of cpu-rate-distortion.md. All bars begin at zero and all scales are linear.
"""
import argparse
import html
import json
import math
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
JPEG_QUALITY = 75
PRESETS = ["fast", "balanced", "best"]

WIDTH, MARGIN, LABELS, GAP, VALUE = 880, 20, 150, 40, 64  # VALUE: room for the number after the longest bar
BAR, ROW = 15, 24
STYLE = """
  .paper { fill: #ffffff; stroke: #d0d7de } .grid { stroke: #d0d7de }
  text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px } .column { font-weight: 600 } .small { font-size: 12px; fill: #59636e }
  .value { paint-order: stroke; stroke: #ffffff; stroke-width: 4px } .cu264 { fill: #2a78d6 } .peer { fill: #8c959f }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117; stroke: #3d444d } .grid { stroke: #3d444d }
    text { fill: #f0f6fc } .small { fill: #9198a1 } .value { stroke: #0d1117 }
    .cu264 { fill: #4a95ec } .peer { fill: #7d8590 }
  }
"""


class Failure(Exception):
    pass


class Panel:
    """One group of encoders; rows hold a name and the values of two columns, of which some are percentages."""

    def __init__(self, title, note, axes, feet, percent, rows):
        self.title, self.note, self.axes, self.feet, self.percent, self.rows = title, note, axes, feet, percent, rows

    def height(self):
        return 78 + ROW * len(self.rows) + 54


def only(rows, what, **wanted):
    """The first row with the wanted fields."""
    for row in rows:
        if all(row.get(key) == value for key, value in wanted.items()):
            return row
    raise Failure("encode-h200.json has no row for %s in '%s'" % (wanted, what))


def gpu_panel(folder):
    with open(os.path.join(folder, "encode-h200.json"), encoding="utf-8") as file:
        tables = json.load(file)
    speed, size = "beside nvJPEG", "bytes at nvJPEG's luma PSNR"
    rows = []
    for preset in PRESETS:
        fps = only(tables[speed], speed, preset=preset, quality=JPEG_QUALITY)["fps"]
        ratio = only(tables[size], size, preset=preset, quality=JPEG_QUALITY)["ratio"]
        rows.append(("cu264 " + preset, fps, 100 * ratio))
    jpeg = only(tables[speed], speed, quality=JPEG_QUALITY)
    many = "nvJPEG, device to host"
    streams = max(row["streams"] for row in tables[many] if row["quality"] == JPEG_QUALITY)
    fastest = max(row["fps"] for row in tables[many] if row["quality"] == JPEG_QUALITY)
    if fastest != jpeg["jpeg_fps_streams"] or only(tables[many], many, fps=fastest)["streams"] != streams:
        raise Failure("encode-h200.json: the fastest nvJPEG is not the one with most streams")
    rows.append(("nvJPEG, 1 stream", jpeg["jpeg_fps_1_stream"], 100.0))
    rows.append(("nvJPEG, %d streams" % streams, jpeg["jpeg_fps_streams"], 100.0))
    return Panel("GPU: " + tables["machine"][0]["device"],
                 "one 1080p clip, frames in device memory; cu264: Constrained Baseline, luma PSNR nearest to nvJPEG's %.2f dB"
                 % jpeg["jpeg_psnr"],
                 ["1080p pictures a second", "bytes at equal luma PSNR"],
                 ["longer is better", "nvJPEG at quality %d = 100 %%; shorter is better" % JPEG_QUALITY], [False, True], rows)


def number(cell):
    found = re.search(r"[-+]?\d+(\.\d+)?", cell)
    if not found:
        raise Failure("cpu-rate-distortion.md: '%s' is no number" % cell)
    return float(found.group())


def bits_panel(folder):
    """Bits beside x264 medium: the mean BD-rates over the clips, by all planes and by SSIM."""
    with open(os.path.join(folder, "cpu-rate-distortion.md"), encoding="utf-8") as file:
        text = file.read()
    tables = [[[cell.strip(" *") for cell in line.strip("|").split("|")] for line in part.splitlines()]
              for part in re.findall(r"(?:^\|.*\n)+", text, re.M)]
    try:
        at = next(i for i, table in enumerate(tables) if any(row[0] == "cu264 fast" for row in table))
        means, clips = tables[at], len(tables[at + 1]) - 2  # less the head and the ruler
        columns = [means[0].index("YUV 6:1:1"), means[0].index("SSIM")]
        by_name = {row[0]: row for row in means}
        order = ["cu264 " + preset for preset in PRESETS] + ["x264 veryfast", "x264 veryslow"]
        rows = [(name, *(100 + number(by_name[name][column]) for column in columns)) for name in order]
    except (IndexError, KeyError, StopIteration, ValueError) as missing:
        raise Failure("cpu-rate-distortion.md has no table of means as expected: %s" % missing)
    rows.insert(4, ("x264 medium", 100.0, 100.0))
    foot = "x264 medium = 100 %; shorter is better"
    return Panel("Bits, on %d clips: photographs, video, rendered, drawn, dark, flat, screen" % clips,
                 "every encoder all-intra Constrained Baseline, QP 22 to 37; 100 % + mean BD-rate",
                 ["bytes at equal YUV PSNR (6:1:1)", "bytes at equal SSIM"], [foot, foot], [True, True], rows)


def ticks(largest):
    """Round steps from zero, the last at or below the largest value."""
    step = 10 ** math.floor(math.log10(largest))
    step = next(s for s in (step / 5, step / 2, step, 2 * step) if largest / s <= 6)
    return [step * i for i in range(int(largest / step + 1e-9) + 1)]


def shown(value, decimals):
    return "{:,.{}f}".format(value, decimals).replace(",", "\u202f")  # a narrow space between thousands


def text(x, y, content, css="", anchor="start"):
    return '<text x="%.1f" y="%.1f"%s text-anchor="%s">%s</text>' % (
        x, y, ' class="%s"' % css if css else "", anchor, html.escape(content))


def draw_panel(panel, top):
    parts = [text(MARGIN, top + 24, panel.title, "title"), text(MARGIN, top + 42, panel.note, "small")]
    width = (WIDTH - 2 * MARGIN - LABELS - GAP) / 2
    first, last = top + 78, top + 78 + ROW * len(panel.rows)
    for row, (name, _, _) in enumerate(panel.rows):
        parts.append(text(MARGIN + LABELS - 10, first + ROW * row + BAR / 2 + 8.5, name, anchor="end"))
    for column in (0, 1):
        left = MARGIN + LABELS + column * (width + GAP)
        values = [row[1 + column] for row in panel.rows]
        scale = (width - VALUE) / max(values)
        parts.append(text(left, first - 10, panel.axes[column], "column"))
        for tick in ticks(max(values)):
            x = left + tick * scale
            parts.append('<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>' % (x, first, x, last + 4))
            parts.append(text(x, last + 18, shown(tick, 0) + (" %" if panel.percent[column] else ""), "small", "middle"))
        for row, value in enumerate(values):
            y = first + ROW * row + 4
            css = "cu264" if panel.rows[row][0].startswith("cu264") else "peer"
            parts.append('<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%d"/>' % (css, left, y, value * scale, BAR))
            label = shown(value, 1) + " %" if panel.percent[column] else shown(value, 0)
            parts.append(text(left + value * scale + 6, y + BAR / 2 + 4.5, label, "value"))
        parts.append(text(left, last + 36, panel.feet[column], "small"))
    return parts


def chart(folder):
    panels = [gpu_panel(folder), bits_panel(folder)]
    height = sum(panel.height() for panel in panels) + 16
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">'
             % (WIDTH, height, WIDTH, height),
             "<!-- made by bench/chart.py from bench/results; do not edit -->",
             "<title>Speed and bytes of cu264 beside nvJPEG and x264</title>", "<style>" + STYLE + "</style>",
             '<rect class="paper" x="0.5" y="0.5" width="%d" height="%d" rx="6"/>' % (WIDTH - 1, height - 1)]
    top = 8
    for panel in panels:
        parts += draw_panel(panel, top)
        top += panel.height()
    return "\n".join(parts + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description="Draws the README's chart from the figures in bench/results.")
    parser.add_argument("--check", action="store_true", help="only look whether the chart is what the figures give")
    parser.add_argument("--results", default=os.path.join(ROOT, "bench", "results"), help="folder of the figures")
    parser.add_argument("-o", "--output", default=os.path.join(ROOT, "docs", "speed-and-bytes.svg"))
    args = parser.parse_args()
    try:
        drawn = chart(args.results)
        if not args.check:
            with open(args.output, "w", encoding="utf-8") as file:
                file.write(drawn)
            return 0
        with open(args.output, encoding="utf-8") as file:
            if file.read() != drawn:
                raise Failure("%s is not what the figures give: run bench/chart.py" % os.path.relpath(args.output))
    except (Failure, OSError) as error:
        print("chart.py: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
