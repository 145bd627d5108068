"""GVLE: figures 7 and 8, tables 2 to 8, on the Canterbury corpora repeated to 100 MB."""
import os

from machine import Failure
from paper_page import median, number, statistics

TITLE = "GVLE: a highly optimized GPU-based implementation of variable-length encoding"
REFERENCE = "Fuentes-Alventosa, Gómez-Luna, Medina-Carnicer 2022 ([docs/papers.md](../../../docs/papers.md#gvle))"
FILES = ["alice29.txt", "asyoulik.txt", "cp.html", "fields.c", "grammar.lsp", "kennedy.xls", "lcet10.txt", "plrabn12.txt", "ptt5",
         "sum", "xargs.1", "bible.txt", "e.coli", "world192.txt"]
LOADS, STORES, REDUCTIONS, ATOMICS, CONFLICTS, INSTRUCTIONS = (
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "smsp__inst_executed.sum")
CHANGES = REDUCTIONS + " and " + ATOMICS
NAMES = {CHANGES: "global reduction and atomic transactions", LOADS: "global load transactions",
         STORES: "global store transactions",
         CONFLICTS: "shared load bank conflicts", INSTRUCTIONS: "executed instructions"}
METRICS = [LOADS, STORES, REDUCTIONS, ATOMICS, CONFLICTS, INSTRUCTIONS]
# The paper's reductions (tables 3 and 6) and atomic operations (table 5). It gives atomics for EXP_REG and GVLE alone; the
# encoders before have EXP_REG's scan and tickets, so that its atomics are taken for theirs. Today's compilers make atomic
# operations of all reductions, so only sums of both can be compared.
WITH_ATOMICS = {"yavle": 4307361 + 26051, "exp_vlet": 4307360 + 26051, "exp_gm": 205459 + 26051, "exp_reg": 205459 + 26051,
                "gvle": 205459 + 141610}


TUNED = "_tuned"  # the suffix of the faster forms


def changes(before, after):
    return WITH_ATOMICS[before] / WITH_ATOMICS[after]


# What variants of the kernels showed on another card, by table and what was counted.
REASONS = {(3, NAMES[INSTRUCTIONS]): "EXP_GM asks twice for each symbol whether it belongs to the input. On an H200 it has 1.23 times "
                                     "fewer instructions than EXP_VLET without these tests, and 1.20 times fewer with one test for "
                                     "32 symbols ([variants](../paper-reasons-h200.md#exp_gm))."}

# Table, from, to, the improvements of the paper: counts, then the runtime.
STEPS = [(2, "yavle", "exp_vlet", {CONFLICTS: 4.24}, 1.21),
         (3, "exp_vlet", "exp_gm", {LOADS: 8.38, CHANGES: changes("exp_vlet", "exp_gm"), STORES: 3.21, INSTRUCTIONS: 1.31}, 1.53),
         (4, "exp_gm", "exp_reg", {INSTRUCTIONS: 1.63}, 1.23),
         (5, "exp_reg", "gvle", {CHANGES: changes("exp_reg", "gvle"), LOADS: 1.08, STORES: 1.02, INSTRUCTIONS: 1.05}, 1.14),
         (6, "yavle", "gvle", {CONFLICTS: 4.36, LOADS: 8.97, CHANGES: changes("yavle", "gvle"), STORES: 3.28, INSTRUCTIONS: 2.55},
          2.57)]
# Average, minimum, maximum in milliseconds on an RTX 2080 (table 7), and GVLE's speed-ups.
TABLE_7 = {"gvle": (0.50, 0.42, 0.53), "yavle": (1.30, 0.82, 1.50), "cuvle": (6.85, 6.59, 7.36),
           "CPU_VLE": (191.75, 112.07, 225.93)}
FASTER = {"yavle": (2.57, 1.97, 3.11), "cuvle": (13.63, 12.93, 16.67), "CPU_VLE": (377.15, 273.15, 425.90)}
TABLE_8 = {"GVLE_scan": (1.22, 1.20, 1.27), "YAVLE_scan": (1.97, 1.95, 2.05), "CUVLE_scan": (47.13, 46.68, 48.02)}
SCANS = {"YAVLE_scan": 1.62, "CUVLE_scan": 38.32}


def triple(values):  # average, minimum, maximum
    return " / ".join(number(value) for value in values)


def counts(machine, megabytes, corpora):
    """{encoder: {metric: sum over the files}} of one launch a file, or nothing."""
    found = {}
    for encoder in [name + form for form in ("", TUNED) for name in WITH_ATOMICS]:
        launches = machine.profile(METRICS, "bench_vle", "--once", encoder, "--mb", megabytes, *corpora,
                                   kernels="^(yavle_kernel|exp_gm_kernel|gvle_kernel)$")
        if not launches:
            return {}
        found[encoder] = {metric: sum(launch[metric] for launch in launches) for metric in METRICS}
        found[encoder][CHANGES] = found[encoder][REDUCTIONS] + found[encoder][ATOMICS]
    return found


def improvements(found, times, before, after, paper, runtime):
    """Rows of (what, the paper's improvement, ours) of one table."""
    rows = [("%s, %s over %s" % (NAMES[metric], after, before), ratio,
             found[before][metric] / found[after][metric] if found[after][metric] else None)
            for metric, ratio in paper.items()] if found else []
    ours = statistics(list(times[before].values()))[0] / statistics(list(times[after].values()))[0]
    return rows + [("runtime, %s over %s" % (after, before), runtime, ours)]


def authors_code(machine, page, times, megabytes, corpora):
    if "vle-authors" not in machine.experiments:
        page.say("The authors' own code was not at hand (--authors-gvle and --authors-gap-arrays name its "
                 "folders).")
        return
    authors = {}
    try:
        for row in machine.rows("vle-authors", megabytes, *corpora):
            authors.setdefault(row["encoder"], {})[row["file"]] = row["ms"]
    except Failure as failure:
        page.say("The authors' own code failed here: %s" % failure)
        return
    page.say("The authors' own code, built for this GPU, beside ours; their YAVLE also makes gap arrays:")
    page.table(["", "authors', ms", "ours, ms", "ours is faster by"],
               [[name[:-8].upper(), triple(statistics(list(by_file.values()))), triple(statistics(list(times[name[:-8]].values()))),
                 statistics([by_file[file] / times[name[:-8]][file] for file in by_file])[0]] for name, by_file in authors.items()])
    page.data["results"]["authors"] = authors
    if len(authors) == 2:
        page.say("Their YAVLE over their GVLE, average / minimum / maximum: %s." % triple(statistics(
            [authors["yavle_authors"][file] / authors["gvle_authors"][file] for file in authors["gvle_authors"]])))


def run(machine, inputs, page, quick):
    megabytes = 2 if quick else 100
    corpora = inputs.corpora()
    cpu = {row["file"]: row["serial_ms"] for row in machine.rows("vle-files-cpu", megabytes, *corpora)}
    inputs.use("%d files of %s, as listed above" % (len(cpu), ", ".join(os.path.basename(folder) for folder in corpora)))
    missing = [name for name in FILES if name not in {file.lower() for file in cpu}]
    page.say("Files, each repeated to %d MB: %s. %s" % (
        megabytes, ", ".join(cpu), "Of the paper's 14 files these are missing: %s." % ", ".join(missing) if missing else
        "These are the paper's 14."))
    if not machine.gpu:
        page.compared("CPU_VLE (table 7), ms", list(zip(("average", "minimum", "maximum"), TABLE_7["CPU_VLE"],
                                                        statistics(list(cpu.values())))))
        return
    times = {}
    for row in machine.rows("vle-files", megabytes, *corpora):
        times.setdefault(row["encoder"], {})[row["file"]] = row["ms"]
    times["CPU_VLE"] = cpu

    page.heading("Tables 2 to 6: the steps from YAVLE to GVLE")
    found = counts(machine, megabytes, corpora)
    if not found:
        page.say("Transactions, conflicts and instructions are missing: %s." % machine.why_no_ncu)
    page.data["results"]["counts, all files"] = {
        encoder: {NAMES[metric]: value for metric, value in values.items() if metric in NAMES} for encoder, values in found.items()}
    for table, before, after, paper, runtime in STEPS:
        rows = improvements(found, times, before, after, paper, runtime)
        page.compared("table %d, improvement" % table, rows)
        for what, paper_says, here in rows:
            if here and (paper_says > 1) != (here > 1):
                counted = what.split(",")[0]
                page.order("Table %d, %s" % (table, counted), before.upper(), after.upper(), paper_says, here,
                           REASONS.get((table, counted), "%s and %s change places." % (before.upper(), after.upper())))
    page.say("Of reductions and atomic operations the sums are compared. The paper gives reductions alone in tables 3 and 6 "
             "(20.96 times fewer in both) and atomics in table 5 for EXP_REG and GVLE; for the encoders before, whose scan is "
             "EXP_REG's, its atomics are taken.")
    page.say("All five are the forms of the paper, with windows of 32 bits. Why EXP_GM's instructions are not the "
             "paper's is said above; of other factors nothing beyond these counts was measured.")
    page.say("The same steps between the tuned forms, which join codes in 64 bits, request tickets early and join shared words "
             "by atomics ([what they are](../../../docs/papers.md#gvle)):")
    for table, before, after, paper, runtime in STEPS:
        page.compared("tuned forms, table %d, improvement" % table,
                      improvements(found, times, before + TUNED, after + TUNED, paper, runtime))
    page.say("Times of all forms, average / minimum / maximum:")
    page.table(["", "as published, ms", "tuned, ms", "tuned is faster by"],
               [[name, triple(statistics(list(times[name].values()))), triple(statistics(list(times[name + TUNED].values()))),
                 triple(statistics([times[name][file] / times[name + TUNED][file] for file in times[name]]))]
                for name in WITH_ATOMICS])

    page.heading("Table 7: runtimes")
    page.say("Average / minimum / maximum over the files; the paper's GPU is an RTX 2080, its processor a Core i7-7800X.")
    page.table(["", "the paper's, ms", "here, ms", "GVLE is faster by (paper)", "GVLE is faster by (here)"],
               [[name, triple(TABLE_7[name]), triple(statistics(list(times[name].values()))),
                 triple(FASTER[name]) if name in FASTER else "",
                 triple(statistics([times[name][file] / times["gvle"][file] for file in times["gvle"]])) if name in FASTER else ""]
                for name in TABLE_7])
    page.data["results"]["table 7"] = {name: {"paper_ms": TABLE_7[name], "here_ms": statistics(list(times[name].values()))}
                                       for name in TABLE_7}
    authors_code(machine, page, times, megabytes, corpora)
    page.heading("Figure 8: YAVLE and GVLE for each file")
    page.table(["file", "YAVLE, ms", "GVLE, ms", "GVLE is faster by", "fast, ms (this project's)"],
               [[file, times["yavle"][file], times["gvle"][file], times["yavle"][file] / times["gvle"][file], times["fast"][file]]
                for file in times["gvle"]])
    page.data["results"]["figure 8"] = {file: {name: times[name][file] for name in ("yavle", "gvle", "fast")}
                                        for file in times["gvle"]}
    for name in ("yavle", "cuvle"):
        page.order("%s against GVLE" % name.upper(), name.upper(), "GVLE", FASTER[name][0],
                   statistics([times[name][file] / times["gvle"][file] for file in times["gvle"]])[0])
    # The paper gives no factor between these two, so both sides compare average runtimes.
    page.order("CUVLE against YAVLE, average runtimes", "CUVLE", "YAVLE", TABLE_7["cuvle"][0] / TABLE_7["yavle"][0],
               statistics(list(times["cuvle"].values()))[0] / statistics(list(times["yavle"].values()))[0])

    page.heading("Figure 7: sizes of thread blocks")
    sizes = {}
    for row in machine.rows("vle-threads", megabytes, *corpora):
        sizes.setdefault(row["encoder"].upper(), {}).setdefault(row["threads"], []).append(row["ms"])
    series = {name: [(threads, statistics(values)[0]) for threads, values in by_size.items()] for name, by_size in sizes.items()}
    page.plot("figure-7", "Figure 7: average runtime over all files", "threads in a block", "milliseconds", series)
    for name, points in series.items():
        at_128, best = dict(points).get(128), min(points, key=lambda point: point[1])
        page.say("%s is fastest with %d threads; 128, the paper's choice, take %s times as long." % (name, best[0],
                                                                                                 number(at_128 / best[1])))

    page.heading("Table 8: scans")
    scans = {}
    for row in machine.rows("vle-scans", megabytes, *corpora):
        scans.setdefault(row["scan"], []).append(row["ms"])
    page.table(["", "the paper's, ms", "here, ms", "GVLE_scan is faster by (paper)", "GVLE_scan is faster by (here)"],
               [[name, triple(TABLE_8[name]) if name in TABLE_8 else "", triple(statistics(values)), SCANS.get(name),
                 median(values) / median(scans["GVLE_scan"])] for name, values in scans.items()])
    page.data["results"]["table 8"] = {name: {"paper_ms": TABLE_8.get(name), "here_ms": statistics(values)}
                                       for name, values in scans.items()}
    for name, paper in SCANS.items():
        page.order("Inter-block scans", name, "GVLE_scan", paper, median(scans[name]) / median(scans["GVLE_scan"]))
