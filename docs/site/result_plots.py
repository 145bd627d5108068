"""The plots of the site. Each is a function that reads bench/results and gives an SVG, a table of the same figures and the
files that they come from; a page asks for it by a line `<!-- plot: NAME -->`."""
import json
import re

from charts import bars, lines, shown, table
from figures import by_name, json_rows, markdown_table, number, printed_table, text_of

PRESETS = ("fast", "balanced", "best")
GPU, NVJPEG = "encode-h200.json", "nvjpeg-h200.md"


def speed():
    rows = [("cu264 " + preset, json_rows(GPU, "beside nvJPEG", preset=preset, quality=75)[0]["fps"], 1) for preset in PRESETS]
    jpeg = json_rows(GPU, "beside nvJPEG", quality=75)[0]
    rows += [("nvJPEG, 1 stream", jpeg["jpeg_fps_1_stream"], 5), ("nvJPEG, 8 streams", jpeg["jpeg_fps_streams"], 5)]
    drawn = bars("Speed beside nvJPEG", "1080p pictures a second, H200, Constrained Baseline at nvJPEG's luma PSNR", rows)
    return drawn, table(["encoder", "pictures a second"], [(name, shown(value)) for name, value, _ in rows]), [GPU, NVJPEG]


def bytes_beside_nvjpeg():
    rows = [("cu264 " + preset, 100 * json_rows(GPU, "bytes at nvJPEG's luma PSNR", preset=preset, quality=75)[0]["ratio"], 1)
            for preset in PRESETS] + [("nvJPEG, quality 75", 100.0, 5)]
    drawn = bars("Bytes beside nvJPEG", "bytes at equal luma PSNR, nvJPEG = 100 %", rows, " %", 1)
    return drawn, table(["encoder", "bytes"], [(name, shown(value, 1) + " %") for name, value, _ in rows]), [GPU, NVJPEG]


def bits(file, profile):
    names = ("cu264 fast", "cu264 balanced", "cu264 best", "x264 veryfast", "x264 veryslow")
    columns = ["YUV 6:1:1", "luma", "U", "V", "SSIM"]
    found = by_name(markdown_table(file, *columns, row="cu264 fast"))
    drawn = bars("Bits beside x264 medium, %s" % profile, "BD-rate beside x264 medium, all-intra %s: negative is fewer bits" % profile,
                 [(name, number(found[name][columns[0]]), 1 if name.startswith("cu264") else 5) for name in names], " %", 2)
    return drawn, table(["encoder"] + columns, [[name] + [found[name][column] for column in columns] for name in names]), [file]


def bits_high():
    return bits("high-cpu.md", "High")


def bits_baseline():
    return bits("cpu-rate-distortion.md", "Constrained Baseline")


def rate_distortion():
    file = "python-h200.md"
    series, rows = {}, []
    for row in markdown_table(file, "QP or quality", "PSNR of luma, dB"):
        name = re.sub(r", (GOP 1)$", ", all-intra", row["first"].replace("PyAV lib", "").replace("torchvision ", ""))
        name = "cu264, QP 27" if name.startswith("cu264") else name
        if "GOP 250" not in name:
            series.setdefault(name, []).append((number(row["MB"]), number(row["PSNR of luma, dB"])))
        rows.append((row["first"], row["QP or quality"], row["MB"], row["PSNR of luma, dB"], row["ms"]))
    drawn = lines("Rate and distortion", "MB of 121 pictures of 1080p", "PSNR of luma, dB",
                  [(name, sorted(points)) for name, points in series.items()], unit=" dB", decimals=2, x_decimals=1,
                  x_ticks=[10, 20, 40, 60, 80], least=35)
    return drawn, table(["way", "QP or quality", "MB", "PSNR of luma, dB", "ms"], rows), [file]


def batch():
    rows = json_rows(GPU, "batch sweep", clip="park.yuv")
    large = json_rows(GPU, "batch sweep", clip="park.yuv 2x2")
    both = [("1080p", rows), ("4K", large)]
    drawn = lines("Speed by batch", "pictures in a batch", "pictures a second, fast, H200",
                  [(name, sorted((row["batch"], row["fps"]) for row in each)) for name, each in both], log_x=True,
                  x_ticks=[1, 32, 64, 96, 161])
    return drawn, table(["size", "pictures in a batch", "pictures a second"],
                        [(name, row["batch"], shown(row["fps"])) for name, each in both for row in each]), [GPU]


def streams():
    file = "sessions-h200.md"
    rows = [row for row in printed_table(file, "streams in a group") if row[3] == "2"]
    sizes = [("1920", "1920x1080"), ("640", "640x480")]
    drawn = lines("Speed by streams", "streams in a group", "pictures a second, all streams, fast, H200",
                  [(name, [(int(row[2]), int(row[4])) for row in rows if row[0] == width]) for width, name in sizes], log_x=True)
    return drawn, table(["size", "streams", "pictures a second", "median ms", "99th percentile ms", "cores"],
                        [(f"{row[0]}x{row[1]}", row[2], shown(int(row[4])), row[5], row[6], row[7]) for row in rows]), [file]


def by_qp():
    file = "cabac-h200.md"
    rows = printed_table(file, "whole encode by QP, high")
    drawn = lines("Speed by QP", "QP", "pictures a second, 1080p, High with CABAC, H100",
                  [(preset, [(int(row[1]), int(row[2])) for row in rows if row[0] == preset][::-1]) for preset in PRESETS[:2]])
    return drawn, table(["preset", "QP", "pictures a second", "bytes of the first picture"],
                        [(row[0], row[1], shown(int(row[2])), shown(int(row[3]))) for row in rows]), [file]


def latency():
    rows = [(row["preset"], row["slices"], row["median_ms"], row["worst_ms"])
            for row in json_rows(GPU, "latency of one picture", clip="park.yuv")]
    drawn = bars("Latency", "ms from send to packet, one 1080p picture, nothing else in flight, H200",
                 [("%s, %s" % (preset, "1 slice" if slices == 1 else "%d slices" % slices), median, 1 if slices == 1 else 3)
                  for preset, slices, median, _ in rows], " ms", 2)
    return drawn, table(["preset", "slices", "median ms", "worst ms"], rows), [GPU]


def stages():
    file = "pipeline-h200.json"
    rows = [row for row in json_rows(file, "pipeline, us a picture") if not row["stage"].startswith("whole")]
    wanted = [("search", "search", "production"), ("code and pack", "code+pack", "production"), ("edge guide", "edge guide", "published"),
              ("code and pack, the papers'", "code+pack", "published"), ("code and pack, baselines", "code+pack", "baseline")]
    chosen = []
    for name, stage, form in wanted:
        row = next(each for each in rows if each["stage"].startswith(stage))
        chosen.append((name, row[form], {"production": 1, "published": 2, "baseline": 5}[form]))
    drawn = bars("GPU time by stage", "microseconds a 1080p picture, fast, Baseline, QP 27, batches of 64, H200", chosen, " us", 2)
    return drawn, table(["stage", "production", "the papers'", "the papers' baselines"],
                        [(row["stage"], row["production"], row["published"], row["baseline"]) for row in rows]), [file]


def edges():
    file = "edge-quality.md"
    rows = markdown_table(file, "UDED MSE", "mean F")
    chosen = [row for row in rows if row["first"] != "empty map"]
    drawn = bars("Edges beside human marks", "mean F within 2 pixels on 15 pictures of UDED and BSDS500",
                 [(row["first"].replace("density scaling", "scaled").replace("distributed", "dist."), number(row["mean F"]),
                   5 if row["first"].startswith(("OpenCV", "constant")) else 1) for row in chosen], "", 3)
    return drawn, table(["method", "mean F"], [(row["first"], row["mean F"]) for row in chosen]), [file]


def encryption():
    file = "protect-cpu.md"
    rows = [row for row in markdown_table(file, "scheme", "PSNR-Y", "EDR") if row["scheme"].startswith("encrypt")]
    drawn = bars("Encrypted pictures", "PSNR of luma beside the source, mean of 10 clips; lower hides more",
                 [(row["scheme"].replace("encrypt ", ""), number(row["PSNR-Y"]), 1) for row in rows], " dB", 2)
    return drawn, table(["parts", "bits encrypted %", "size %", "PSNR-Y", "SSIM-Y", "edge-difference ratio"],
                        [(row["scheme"], row["bits encrypted %"], row["size %"], row["PSNR-Y"], row["SSIM-Y"], row["EDR"])
                         for row in rows]), [file]


def papers():
    rows, names = [], ("gvle", "cavlcu", "pavle", "cuvle", "gud_canny")
    for name in names:
        for row in json.loads(text_of("papers/%s.json" % name))["results"]["order"]:
            rows.append((name, row["what"], row["paper"], row["here"], row["same"]))
    drawn = bars("The papers' factors, rerun", "factor here / factor in the paper: 1 is the paper's; the second colour is another order",
                 [("%s %d" % (paper, 1 + sum(each[0] == paper for each in rows[:at])), here / theirs, 1 if same else 2)
                  for at, (paper, _, theirs, here, same) in enumerate(rows)], "", 2)
    return drawn, table(["row", "factor", "the paper's", "here", "same order"],
                        [("%s %d" % (paper, 1 + sum(each[0] == paper for each in rows[:at])), what, "%.3g" % theirs, "%.3g" % here,
                          "yes" if same else "**no**")
                         for at, (paper, what, theirs, here, same) in enumerate(rows)]), ["papers/%s.md" % name for name in names]


def tensor():
    file = "python-h200.md"
    rows = markdown_table(file, "ms", "MB at 37.05 dB")
    drawn = bars("A tensor to an MP4 file", "ms for 121 pictures of 1080p at 37.05 dB, from Python, H200",
                 [(re.sub(r", \d.*", "", row["first"]).replace("PyAV lib", "").replace("torchvision ", ""), number(row["ms"]),
                   1 if row["first"].startswith("cu264") else 5) for row in rows], " ms", 1)
    return drawn, table(["way", "ms", "MB"], [(row["first"], row["ms"], row["MB at 37.05 dB"]) for row in rows]), [file]


def inter(title, axis, ours):
    file, factor = "inter-prediction.md", "cu264 is larger by"
    columns = [ours, "libx264, GOP 250, kB", "its bytes at cu264's dB, kB", factor]
    rows = markdown_table(file, *columns)
    drawn = bars(title, axis + " / libx264's with a GOP of 250, at equal luma PSNR",
                 [(row["first"], number(row[factor]), 2 if row["first"] == "geometric mean" else 1) for row in rows], " times", 2)
    return drawn, table(["clip"] + columns, [[row["first"]] + [row[name] for name in columns] for row in rows]), [file]


def inter_all_intra():
    return inter("All-intra beside inter prediction", "cu264's bytes, all-intra", "cu264, kB")


def inter_p():
    return inter("P pictures beside inter prediction", "cu264's bytes with --gop 250", "cu264, GOP 250, kB")


def huffman():
    file = "peers-h100.md"
    rows = markdown_table(file, "fast", "ANS")
    first = rows[0]
    drawn = bars("Huffman coding beside nvCOMP", "GB a second of input, %s repeated to 100 MB, H100" % first["first"],
                 [(name, number(first[column].split(",")[0]), colour) for name, column, colour in
                  (("cu264", "fast", 1), ("cu264 and histogram", "fast and histogram", 1), ("nvCOMP ANS", "ANS", 5),
                   ("nvCOMP Deflate", "Deflate, no matches", 5), ("nvCOMP GDeflate", "GDeflate, no matches", 5))])
    return drawn, table(["file", "cu264 GB/s, ratio", "with histogram", "ANS GB/s, ratio"],
                        [(row["first"], row["fast"], row["fast and histogram"], row["ANS"]) for row in rows]), [file]


PLOTS = {"speed": speed, "bytes-beside-nvjpeg": bytes_beside_nvjpeg, "bits-high": bits_high, "bits-baseline": bits_baseline,
         "rate-distortion": rate_distortion, "batch": batch, "streams": streams, "qp": by_qp, "latency": latency, "stages": stages,
         "edges": edges, "encryption": encryption, "papers": papers, "tensor": tensor, "huffman": huffman,
         "inter": inter_all_intra, "inter-p": inter_p}


def figure(name, results):
    """A plot as Markdown; `results` is the way from the page to bench/results."""
    drawn, figures, files = PLOTS[name]()
    links = ", ".join("[%s](%s/%s)" % (file, results, file) for file in files)
    body = "\n".join("    " + line for line in (figures + "\n\nFrom " + links + ".").splitlines())
    return '<figure class="plot">%s</figure>\n\n??? abstract "These figures as a table"\n\n%s\n' % (drawn, body)
