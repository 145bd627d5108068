"""GUD-Canny: tables 1 to 6 and figure 1."""
import os

from paper_page import number, statistics

TITLE = "GUD-Canny: a real-time GPU-based unsupervised and distributed Canny edge detector"
REFERENCE = "Fuentes-Alventosa, Gómez-Luna, Medina-Carnicer 2022 ([docs/papers.md](../../../docs/papers.md#gud-canny))"
# Table 1: average, minimum, maximum.
MSE = {("C0.01", "frame"): (0.0534, 0.0095, 0.1811), ("C0.01", "distributed"): (0.0498, 0.0081, 0.1376),
       ("C0.03", "frame"): (0.0534, 0.0103, 0.1554), ("C0.03", "distributed"): (0.0502, 0.0071, 0.1270)}
# Tables 2 and 3, of the pictures of 512x512 and of all: average, minimum, maximum; ms on an RTX 2080.
TIMES = {"512x512": {"C0.01": (1.2053, 1.0314, 1.3599), "C0.03": (0.3531, 0.2814, 0.3932)},
         "all": {"C0.01": (1.2736, 0.9376, 2.1042), "C0.03": (0.3637, 0.2671, 0.5396)}}
SPEED_UP = {"512x512": (3.42, 2.99, 3.69), "all": (3.50, 2.99, 3.90)}
# Tables 4 and 5: average, minimum, maximum of the shares in percent. The fallback is a step of ours.
SHARES = {"C0.01": {"gauss_x": (1.83, 1.33, 2.80), "gauss_y": (1.96, 1.34, 3.17), "gradient": (0.97, 0.69, 1.20),
                    "suppression": (2.41, 1.67, 3.21), "SM_H": (82.38, 79.81, 87.13), "Prob": (0.86, 0.53, 1.16),
                    "P(F(x))": (7.21, 4.85, 8.81), "search": (0.36, 0.21, 0.59), "hysteresis": (2.02, 1.50, 2.86)},
          "C0.03": {"gauss_x": (6.10, 4.57, 8.93), "gauss_y": (6.57, 4.71, 10.17), "gradient": (3.25, 2.47, 4.04),
                    "suppression": (8.03, 6.25, 10.35), "SM_H": (39.39, 35.26, 44.57), "Prob": (2.90, 2.34, 3.96),
                    "P(F(x))": (24.87, 19.14, 29.55), "search": (1.19, 0.79, 1.48), "hysteresis": (7.70, 4.53, 12.62)}}
FALLBACK = "fallback"
EXCHANGED = ("P(F(x))", "hysteresis")  # two steps whose order differs from the paper's
STATISTICS = ("average", "minimum", "maximum")
TRANSFERS = {"C0.01": 12, "C0.03": 30}  # figure 1: less than so many percent


def quality(machine, page, pictures):
    rows = machine.rows("canny-quality", *pictures)
    page.heading("The paper's table 1: mean squared error, luma of full range")
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
             "of full range here; [edge-quality.md](../edge-quality.md) measures luma of limited range, so that pictures from "
             "RGB have other errors there.")
    page.say("The paper's 28 pictures of Heath et al. are not at hand. Its marks are those of one map a picture; BSDS500's "
             "are of all people together, which makes errors larger.")
    page.data["results"]["table 1"] = {key[0]: {"%s, %s" % (method, name): value for (name, method), value in values.items()}
                                       for key, values in cells.items()}
    for which, what in enumerate(STATISTICS):
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

    def times(paths):
        by = {}
        for row in machine.rows("canny-times", *(paths[:2] if quick else paths)):
            by.setdefault((row["form"], row["set"], row["partition"]), {})[row["picture"]] = row
        return by

    by, whole = times(squares), times(pictures)
    page.heading("Table 2: detection times, 512x512")
    page.say("The middles of %d pictures; milliseconds. The paper's average is that of its 11 pictures of this size. The paper "
             "does not say whether its times include the transfers that figure 1 shares out, so both are here (page-locked "
             "host memory). \"All\" are the %d whole pictures, of whatever size they have." % (len(squares), len(pictures)))
    published = {name: by["published", name, "32xH"] for name in SHARES}
    groups = {"512x512": published, "all": {name: whole["published", name, "32xH"] for name in SHARES}}
    page.table(["picture", "C0.01", "with transfers", "C0.03", "with transfers", "the library's, C0.03", "with transfers"],
               [[picture] + [published[name][picture][key] for name in SHARES for key in ("ms", "total_ms")]
                + [by["library", "C0.03", "32xH"][picture][key] for key in ("ms", "total_ms")] for picture in published["C0.03"]])
    page.data["results"]["table 2"] = {name: {picture: {"ms": row["ms"], "with_transfers_ms": row["total_ms"]}
                                              for picture, row in published[name].items()} for name in SHARES}
    for group, sets in groups.items():
        for name, paper in TIMES[group].items():
            for key, what in (("ms", "kernels"), ("total_ms", "with transfers")):
                page.compared("%s, %s, %s, ms" % (name, group, what),
                              list(zip(STATISTICS, paper, statistics([row[key] for row in sets[name].values()]))))
    page.heading("Table 3: C0.03 is faster than C0.01 by")
    for group, sets in groups.items():
        factors = [sets["C0.01"][picture]["ms"] / sets["C0.03"][picture]["ms"] for picture in sets["C0.03"]]
        page.compared(group, list(zip(STATISTICS, SPEED_UP[group], statistics(factors))))
    page.heading("Tables 4 and 5: shares of the steps, %")
    page.say("The shares of the paper's steps, of all pictures. The fallback, which the paper has not, is left out of them and "
             "stands below: it gives thresholds to sub-images in which the search finds none ([what "
             "differs](../../../docs/papers.md#gud-canny)).")
    for name, shares in SHARES.items():
        rows = groups["all"][name].values()
        of_step = {step: statistics([100 * row[step] / sum(row[other] for other in shares) for row in rows]) for step in shares}
        for which, what in enumerate(STATISTICS):
            page.compared("%s share of a step, %s" % (what, name),
                          [(step, share[which], of_step[step][which]) for step, share in shares.items()])
        page.say("The fallback takes %s %% of the paper's steps here (average, minimum, maximum)." % " / ".join(
            map(number, statistics([100 * row[FALLBACK] / sum(row[step] for step in shares) for row in rows]))))
        theirs = [10 * shares[step][0] * TIMES["all"][name][0] for step in EXCHANGED]
        ours = [1000 * statistics([row[step] for row in rows])[0] for step in EXCHANGED]
        page.order("Shares, %s" % name, *EXCHANGED, shares[EXCHANGED[0]][0] / shares[EXCHANGED[1]][0],
                   of_step[EXCHANGED[0]][0] / of_step[EXCHANGED[1]][0],
                   "The paper's average shares of its average time are %s and %s us; here the two take %s and %s." %
                   tuple(map(number, theirs + ours)))
    page.heading("Figure 1: share of the transfers, %")
    page.compared("set (the paper: less than)",
                  [(name, TRANSFERS[name],
                    statistics([100 * row["transfers_ms"] / row["total_ms"] for row in published[name].values()])[0])
                   for name in SHARES])
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
                    statistics([row[step] for row in wide.values()])[0]) for step in [*SHARES["C0.03"], FALLBACK]}
    most = max(steps, key=lambda step: abs(steps[step][1] - steps[step][0]))
    page.order("Partitions", "Wx32", "32xH", 0.4028 / 0.3531, ratio,
               "The step that differs most is %s: %s ms for 32xH, %s ms for Wx32." % (most, *map(number, steps[most])))
    page.table(["step, ms", "32xH", "Wx32"], [[step, *values] for step, values in steps.items()])
