"""GUD-Canny: tables 1 to 6 and figure 1."""
import os

from paper_page import number, statistics

TITLE = "GUD-Canny: a real-time GPU-based unsupervised and distributed Canny edge detector"
REFERENCE = "Fuentes-Alventosa, Gómez-Luna, Medina-Carnicer 2022 ([docs/papers.md](../../../docs/papers.md#gud-canny))"
# Table 1: average, minimum, maximum.
MSE = {("C0.01", "frame"): (0.0534, 0.0095, 0.1811), ("C0.01", "distributed"): (0.0498, 0.0081, 0.1376),
       ("C0.03", "frame"): (0.0534, 0.0103, 0.1554), ("C0.03", "distributed"): (0.0502, 0.0071, 0.1270)}
TIMES = {"C0.01": (1.2053, 1.0314, 1.3599), "C0.03": (0.3531, 0.2814, 0.3932)}  # ms, 512x512, RTX 2080
SPEED_UP = (3.42, 2.99, 3.69)
# Tables 4 and 5, average shares in percent. The paper's two Gaussian kernels are one step here.
SHARES = {"C0.01": {"Gaussian": 3.79, "gradient": 0.97, "suppression": 2.41, "SM_H": 82.38, "Prob": 0.86, "P(F(x))": 7.21,
                    "search": 0.36, "hysteresis": 2.02},
          "C0.03": {"Gaussian": 12.67, "gradient": 3.25, "suppression": 8.03, "SM_H": 39.39, "Prob": 2.90, "P(F(x))": 24.87,
                    "search": 1.19, "hysteresis": 7.70}}
TRANSFERS = {"C0.01": 12, "C0.03": 30}  # figure 1: less than so many percent


def quality(machine, page, pictures):
    rows = machine.rows("canny-quality", *pictures)
    page.heading("Table 1: mean squared error, luma of full range")
    if not rows:
        page.say("No picture has marks beside it (PICTURE_gt), so there is no table 1.")
        return
    cells = {}
    for row in rows:
        cells.setdefault((row["picture"], row["width"], row["height"]), {})[row["set"], row["method"]] = row["mse"]
    columns = list(MSE)
    page.table(["picture"] + ["%s, %s" % (method, name) for name, method in columns],
               [["%s (%dx%d)" % key] + [values[column] for column in columns] for key, values in cells.items()])
    page.say("The maps are those of the library on the processor, which are the published form's bit by bit. RGB becomes luma "
             "of full range here; [edge-quality.md](../edge-quality.md) has a table 1 of its own, with luma of limited range, "
             "so that pictures from RGB have other errors there.")
    page.say("The paper's 28 pictures of Heath et al. are not at hand. Its marks are those of one map a picture; BSDS500's "
             "are of all people together, which makes errors larger.")
    page.data["results"]["table 1"] = {key[0]: {"%s, %s" % (method, name): value for (name, method), value in values.items()}
                                       for key, values in cells.items()}
    for which, what in enumerate(("average", "minimum", "maximum")):
        page.compared(what + " MSE", [("%s, %s" % (method, name), MSE[name, method][which],
                                       statistics([values[name, method] for values in cells.values()])[which])
                                      for name, method in columns])
    for name in ("C0.01", "C0.03"):
        frame, distributed = (statistics([values[name, method] for values in cells.values()])[0]
                              for method in ("frame", "distributed"))
        page.order("MSE, %s" % name, "frame-level", "distributed", MSE[name, "frame"][0] / MSE[name, "distributed"][0],
                   frame / distributed, "Both differ by a few percent, in the paper too.")


def run(machine, inputs, page, quick):
    pictures = inputs.pictures()
    squares = inputs.squares(pictures)
    inputs.use("%d pictures: %s" % (len(pictures), ", ".join(os.path.splitext(os.path.basename(path))[0] for path in pictures)))
    quality(machine, page, pictures[:2] if quick else pictures)
    if not machine.gpu:
        return
    rows = machine.rows("canny-times", *(squares[:2] if quick else squares))
    by = {}
    for row in rows:
        by.setdefault((row["form"], row["set"], row["partition"]), {})[row["picture"]] = row
    page.heading("Table 2: detection times, 512x512")
    page.say("The middles of %d pictures; milliseconds. The paper's average is that of its 11 pictures of this size. The paper "
             "does not say whether its times include the transfers that figure 1 shares out, so both are here (page-locked "
             "host memory)." % len(squares))
    published = {name: by["published", name, "32xH"] for name in TIMES}
    page.table(["picture", "C0.01", "with transfers", "C0.03", "with transfers", "the library's, C0.03", "with transfers"],
               [[picture] + [published[name][picture][key] for name in TIMES for key in ("ms", "total_ms")]
                + [by["library", "C0.03", "32xH"][picture][key] for key in ("ms", "total_ms")] for picture in published["C0.03"]])
    page.data["results"]["table 2"] = {name: {picture: {"ms": row["ms"], "with_transfers_ms": row["total_ms"]}
                                              for picture, row in published[name].items()} for name in TIMES}
    for name, paper in TIMES.items():
        for key, what in (("ms", "kernels"), ("total_ms", "with transfers")):
            page.compared("%s, %s, ms" % (name, what),
                          list(zip(("average", "minimum", "maximum"), paper,
                                   statistics([row[key] for row in published[name].values()]))))
    page.heading("Table 3: C0.03 is faster than C0.01 by")
    factors = [published["C0.01"][picture]["ms"] / published["C0.03"][picture]["ms"] for picture in published["C0.03"]]
    page.compared("512x512", list(zip(("average", "minimum", "maximum"), SPEED_UP, statistics(factors))))
    page.heading("Tables 4 and 5: shares of the steps, %")
    page.say("\"Gaussian\" is the paper's gauss_x and gauss_y together. Two steps do not do what the paper's do: P(F(x)) "
             "neither counts |Prob_x| nor divides by it, and \"search\" has a kernel besides, which pools the counts of all "
             "sub-images ([what differs](../../../docs/papers.md#gud-canny)).")
    for name, shares in SHARES.items():
        sums = {step: sum(row[step] for row in published[name].values()) for step in shares}
        whole = sum(sums.values())
        page.compared("step, " + name, [(step, share, 100 * sums[step] / whole) for step, share in shares.items()])
    page.heading("Figure 1: share of the transfers, %")
    page.compared("set (the paper: less than)",
                  [(name, TRANSFERS[name],
                    statistics([100 * row["transfers_ms"] / row["total_ms"] for row in published[name].values()])[0])
                   for name in TIMES])
    page.heading("Table 6: sub-images of 32xH and of Wx32, C0.03")
    wide = by["published", "C0.03", "Wx32"]
    page.table(["picture", "32xH, ms", "Wx32, ms", "Wx32 / 32xH", "the library's, Wx32 / 32xH"],
               [[picture, row["ms"], wide[picture]["ms"], wide[picture]["ms"] / row["ms"],
                 by["library", "C0.03", "Wx32"][picture]["ms"] / by["library", "C0.03", "32xH"][picture]["ms"]]
                for picture, row in published["C0.03"].items()])
    page.data["results"]["table 6"] = {picture: {"32xH_ms": row["ms"], "Wx32_ms": wide[picture]["ms"]}
                                       for picture, row in published["C0.03"].items()}
    ratio = statistics([wide[picture]["ms"] / row["ms"] for picture, row in published["C0.03"].items()])[0]
    steps = {step: (statistics([row[step] for row in published["C0.03"].values()])[0],
                    statistics([row[step] for row in wide.values()])[0]) for step in SHARES["C0.03"]}
    most = max(steps, key=lambda step: abs(steps[step][1] - steps[step][0]))
    page.order("Partitions", "Wx32", "32xH", 0.4028 / 0.3531, ratio,
               "The step that differs most is %s: %s ms for 32xH, %s ms for Wx32." % (most, *map(number, steps[most])))
    page.table(["step, ms", "32xH", "Wx32"], [[step, *values] for step, values in steps.items()])
