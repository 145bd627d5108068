"""CAVLCU: tables 10 and 11, figures 15 to 17, with clips of the paper's three sizes, picture by picture."""
import json

from machine import Failure
from paper_page import number, statistics

TITLE = "CAVLCU: an efficient GPU-based implementation of CAVLC"
REFERENCE = "Fuentes-Alventosa et al. 2022 ([docs/papers.md](../../../docs/papers.md#cavlcu))"
# Size: the paper's clip, its name in file names, the figure; table 10 (minimum, maximum, average) on Maxwell and on Turing;
# table 11, improvements in load transactions, store transactions, instructions on Turing and on Maxwell.
CLIPS = {"176x144": ("City", "city", 15, (2.7, 3.6, 3.3), (4.2, 6.2, 5.2), ((2.56, 3.43, 2.17), (4.32, 3.43, 2.30))),
         "352x288": ("Mother and Daughter", "mother", 16, (2.5, 3.5, 3.3), (3.9, 5.4, 4.8),
                     ((2.55, 3.21, 2.30), (4.26, 3.21, 2.45))),
         "1280x720": ("Ducks take off", "ducks", 17, (3.3, 5.4, 4.1), (3.0, 6.7, 5.1), ((2.70, 3.32, 2.13), (4.39, 3.32, 2.25)))}
METRICS = {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "global load transactions",
           "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": "global store transactions",
           "smsp__inst_executed.sum": "executed instructions"}
# These are the columns of bench_cavlc, as far as a build has them. CAVLC_SU with its packing is the paper's baseline.
BASELINE, UNPACKED = "cavlc_su_us", "unpacked_cavlc_su_us"
NAMES = {BASELINE: "CAVLC_SU", UNPACKED: "CAVLC_SU, not packed", "cavlcu_us": "CAVLCU", "cavlcu_packed_us": "CAVLCU, packed",
         "luma_cavlcu_us": "CAVLCU, luma alone", "cavlcu_tuned_us": "CAVLCU, tuned",
         "cavlcu_tuned_packed_us": "CAVLCU, tuned, packed"}
# Coders and how often a pass launches each of their kernels: CAVLC_SU takes one component of the picture after the other.
# Its packing has these kernels besides, and a scan of a few hundred sums, which is not counted.
CODERS = {"CAVLC_SU": {"forward_scan": 4, "backward_scan": 4, "code_component": 4}, "CAVLCU": {"cavlcu": 1},
          "CAVLCU, tuned": {"cavlcu_tuned": 1}}
PACKING = ["sum_lengths", "place_blocks", "clear_words", "lag_pack"]
# Table 11 on Turing: load transactions of CAVLC_SU and of CAVLCU.
PAPER_LOADS = {"176x144": (7001064, 2731105), "352x288": (21833529, 8558844), "1280x720": (224018729, 83021412)}
LOADS, STORES = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"


def loads_of_a_block(page, size, sums):
    """Says how much each coder loads for a block."""
    width, height = map(int, size.split("x"))
    macroblocks = (width + 15) // 16 * ((height + 15) // 16)
    ours = [sums[coder][LOADS] / (27 * macroblocks) for coder in ("CAVLC_SU", "CAVLCU")]
    theirs = [loads / (16 * macroblocks * 50 * 11) for loads in PAPER_LOADS[size]]
    page.say("Load transactions a block: CAVLC_SU %s and CAVLCU %s here; %s and %s in the paper, if its counts are those of the "
             "luma blocks of 50 pictures at 11 QPs, which it does not say." % tuple(map(number, ours + theirs)))
    su, cavlcu = (sums[coder][LOADS] + sums[coder][STORES] for coder in ("CAVLC_SU", "CAVLCU"))
    page.say("CAVLCU has %s %% fewer global transactions than CAVLC_SU here; the paper says 75.7 %% on Maxwell and 65.86 %% on "
             "Turing, over its three clips." % number(100 * (1 - cavlcu / su)))
    page.data["results"].setdefault("loads of a block", {})[size] = dict(
        zip(("CAVLC_SU", "CAVLCU", "CAVLC_SU, the paper", "CAVLCU, the paper"), ours + theirs))


def coded(machine, clip, size, pictures, qps):
    text = machine.output("bench_cavlc", clip, *size.split("x"), pictures, *qps)
    return json.loads(text.strip().splitlines()[-1])["rows"]


def sums_of_a_pass(launches):
    """The counts of one pass of each coder; the bench makes many, and some over part of the blocks only."""
    by_kernel, sums = {}, {}
    for launch in launches:
        by_kernel.setdefault(launch["kernel"], []).append(launch)
    for coder, kernels in CODERS.items():
        if not all(name in by_kernel for name in kernels):
            continue
        if coder == "CAVLC_SU":
            kernels = {**kernels, **{name: 1 for name in PACKING if name in by_kernel}}
        sums[coder] = {metric: sum(times * statistics([one[metric] for one in by_kernel[name]])[0] if times > 1 else
                                   max(one[metric] for one in by_kernel[name]) for name, times in kernels.items())
                       for metric in METRICS}
    return sums


def table_11(machine, page, size, frame, paper):
    """Counts of the clip's first picture at QP 27."""
    kernels = [kernel for names in CODERS.values() for kernel in names] + PACKING
    launches = machine.profile(list(METRICS), "bench_cavlc", frame, *size.split("x"), 1, 27, kernels="^(%s)$" % "|".join(kernels))
    sums = sums_of_a_pass(launches or [])
    if "CAVLC_SU" not in sums:
        page.say("There is no table 11 for %s: %s." % (size, machine.why_no_ncu or "ncu shows no launches of these coders"))
    page.say("Table 11 compares the first picture of the clip at QP 27; CAVLC_SU's counts include its packing.")
    for name in sums:
        if name != "CAVLC_SU" and "CAVLC_SU" in sums:
            page.compared("table 11, improvement of %s, %s" % (name, size),
                          [("%s, the paper on %s" % (what, gpu), ratio,
                            sums["CAVLC_SU"][metric] / sums[name][metric] if sums[name][metric] else None)
                           for gpu, ratios in zip(("Turing", "Maxwell"), paper)
                           for (metric, what), ratio in zip(METRICS.items(), ratios)])
    if "CAVLC_SU" in sums and "CAVLCU" in sums:
        loads_of_a_block(page, size, sums)
    page.data["results"].setdefault("table 11", {})[size] = {name: {METRICS[metric]: value for metric, value in values.items()}
                                                            for name, values in sums.items()}


def run(machine, inputs, page, quick):
    if not machine.gpu:
        page.say("Everything this paper measures runs on a GPU, so there is nothing here.")
        return
    qps = [0, 25, 50] if quick else list(range(0, 51, 5))
    page.say("Pictures one by one, as the paper times them; all are intra pictures, coded by this project's `fast` preset (the "
             "paper: groups of ten, made by another encoder; the published coders here take no P pictures). CAVLC_SU's time "
             "includes its lag packing, as its authors have it; CAVLCU's output is not packed. All coders code the 27 blocks of a "
             "macroblock, but for the row \"luma alone\": there CAVLC_SU's time of 27 blocks is divided by CAVLCU's of 16, so that "
             "it flatters CAVLCU.")
    page.say("CAVLC_SU's scans go by component and through shared memory, as its authors have them ([what "
             "differs](../../../docs/papers.md#cavlc_su)); below, its load transactions stand beside the paper's.")
    for size, (paper_clip, name, figure, maxwell, turing, counts) in CLIPS.items():
        path, clip = inputs.clip(size, name)
        frames = inputs.single_frames(path, size)
        page.heading("%s: %s in the place of %s" % (size, clip, paper_clip))
        by_qp, ratios, unpacked = {}, {}, []
        try:
            for frame in frames:
                for row in coded(machine, frame, size, 1, qps):
                    for key in (key for key in NAMES if key in row):
                        by_qp.setdefault(key, {}).setdefault(row["qp"], []).append(row[key])
                        if key not in (BASELINE, UNPACKED):
                            ratios.setdefault(key, []).append(row[BASELINE] / row[key])
                    if UNPACKED in row:
                        unpacked.append(row[UNPACKED] / row["cavlcu_us"])
        except Failure as failure:
            page.say("This failed: %s" % failure)
            continue
        means = {key: [(qp, statistics(values)[0] / 1000) for qp, values in by_qp[key].items()] for key in by_qp}
        page.plot("figure-%d" % figure, "Figure %d: time of a picture over QP, %s" % (figure, clip), "QP", "milliseconds",
                  {NAMES[key]: points for key, points in means.items() if "packed" not in key})
        page.say("%d pictures. Table 10, CAVLC_SU's time over that of:" % len(frames))
        rows = [["CAVLCU, the paper, Maxwell", *maxwell], ["CAVLCU, the paper, Turing", *turing]]
        for key, values in ratios.items():
            average, least, most = statistics(values)
            of_27 = " (CAVLC_SU: all 27 blocks)" if key == "luma_cavlcu_us" else ""
            rows.append([NAMES[key] + ", here" + of_27, least, most, average])
        if unpacked:
            average, least, most = statistics(unpacked)
            rows.append(["CAVLCU, here, where CAVLC_SU does not pack either", least, most, average])
        page.table(["", "minimum", "maximum", "average"], rows)
        page.data["results"].setdefault("table 10", {})[size] = {
            NAMES[key]: dict(zip(("average", "minimum", "maximum"), statistics(values))) for key, values in ratios.items()}
        page.order("CAVLCU, %s" % size, "CAVLC_SU", "CAVLCU", turing[2], statistics(ratios["cavlcu_us"])[0])
        if machine.ncu:
            table_11(machine, page, size, frames[0], counts)
    if not machine.ncu:
        page.say("Table 11, transactions and instructions, is missing: %s." % (machine.why_no_ncu or "ncu is not allowed to count"))
    page.say("A picture of QCIF has %s blocks, too few to fill this GPU: there the time is that of launches and of the chain "
             "of thread blocks, not of coding." % number(99 * 27, 4))
