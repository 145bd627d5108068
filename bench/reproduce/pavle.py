"""PAVLE, figures 4 and 5: its kernels over sizes, with codes joined in global or shared memory, and over DPT."""
import cuvle
from paper_page import number

TITLE = "PAVLE: parallel variable-length encoding on GPGPUs"
REFERENCE = "Balevic 2009 ([docs/papers.md](../../../docs/papers.md#pavle))"
KERNELS = {"gm32, qm32": "pavle_gm", "gm32, table cached": "pavle_gm_table", "sm32": "pavle_sm",
           "sm32, table cached": "pavle_dpt1_codes", "sm64huff": "pavle_sm64", "sm64huff, table cached": "pavle_sm64_table",
           "gm32, table in texture memory": "pavle_gm_texture", "sm32, table in texture memory": "pavle_sm_texture",
           "scan": "pavle_scan", "scan, DPT 4": "pavle_scan_dpt4", "DPT 2": "pavle_dpt2_codes", "DPT 4": "pavle_dpt4_codes",
           "DPT 8": "pavle_dpt8_codes", "DPT 2, codes looked up twice": "pavle_dpt2_table",
           "DPT 4, codes looked up twice": "pavle_dpt4_table", "DPT 8, codes looked up twice": "pavle_dpt8_table"}

REASONS = "../paper-reasons-h200.md"  # variants of the kernels on another card, which show why


def run(machine, inputs, page, quick):
    most = 1 if quick else 256
    cpu = {row["mebibytes"]: row["serial_ms"] for row in machine.rows("vle-sweep-cpu", most) if row["entropy"] == 2.2}
    points = {size: encoders for (entropy, size), encoders in cuvle.sweep(machine, most).items() if entropy == 2.2}
    page.say("The paper's figures have no numbers beside them, so its sentences are compared. Inputs are random bytes of 2.2 "
             "bits a symbol, as in figure 4, with codes of 8 bits at most, so that four of them fit into 32; those of more than 4 MB "
             "repeat 4 MB. A kernel is the first pass alone. \"scan\" is its prefix sum alone; \"scan and compaction\" are the "
             "two passes after it, of sm64huff with DPT 4.")
    if not points:
        page.table(["MB", "serial CPU, ms"], [("%g" % size, time) for size, time in sorted(cpu.items())])
        return

    def row_of(kernel, size):
        return next(row for (name, _, part), row in points[size].items() if name == kernel and part == "kernel")

    def time(kernel, size):
        return row_of(kernel, size)["ms"]

    def zeroing(kernel):  # of what has to be zero before the kernel
        return row_of(kernel, size)["with_zeroing_ms"] - time(kernel, size)

    def serial(size):
        return cpu[size]

    page.heading("Figure 4: over sizes")
    for part, names in (("4a", ["gm32, qm32", "sm32", "sm64huff", "scan"]),
                        ("4b", ["gm32, table cached", "sm32, table cached", "sm64huff, table cached", "scan"])):
        series = {"serial CPU": [(size, serial(size)) for size in sorted(points)]}
        for name in names:
            series[name] = [(size, time(KERNELS[name], size)) for size in sorted(points)]
        series["scan and compaction"] = [
            (size, points[size]["pavle", 256, "all"]["ms"] - time("pavle", size)) for size in sorted(points)]
        page.plot("figure-" + part, "Figure %s: kernel time over size, 2.2 bits a symbol" % part, "MB", "milliseconds", series,
                  log_x=True, log_y=True)
    size = max(points)
    gm, gm_table, sm, sm_table = (time(name, size) for name in ("pavle_gm", "pavle_gm_table", "pavle_sm", "pavle_dpt1_codes"))
    best = min(time("pavle_dpt%d_codes" % dpt, size) for dpt in (1, 2, 4, 8))
    slots = zeroing("pavle_gm") - zeroing("pavle_sm")
    gigabytes = 1048576 * size / 1e6
    page.compared("%g MB" % size, [
        ("serial CPU / gm32 (\"closely matching\")", 1, serial(size) / gm),
        ("gm32 / sm32 (\"more than an order of magnitude\")", 10, gm / sm),
        ("what the cached table saves gm32, % (\"approximately 20\")", 20, 100 * (gm / gm_table - 1)),
        ("what the cached table saves sm32, % (\"up to 55\")", 55, 100 * (sm / sm_table - 1)),
        ("sm64huff / sm32 (\"slightly lower\" performance)", None, time("pavle_sm64", size) / sm),
        ("what texture memory saves gm32, % (\"similar results\")", 20, 100 * (gm / time("pavle_gm_texture", size) - 1)),
        ("what texture memory saves sm32, % (\"similar results\")", 55, 100 * (sm / time("pavle_sm_texture", size) - 1)),
        ("scan / sm32", None, time("pavle_scan", size) / sm),
        ("scan, DPT 4 / scan", None, time("pavle_scan_dpt4", size) / time("pavle_scan", size)),
        ("serial CPU / the best DPT (\"35x\")", 35, serial(size) / best),
        ("the best DPT, GB/s (\"approximately 4\")", 4, gigabytes / best)])
    page.order("Global against shared memory", "gm32", "sm32", 10, gm / sm,
               "sm32 zeroes its buffer and copies what it holds within its time. The slots of gm32 are zeroed before, which takes "
               "%s ms and is not counted; with it gm32 takes %s ms, where sm32 takes %s: gm32 / sm32 = %s. Shared memory does not gain "
               "more because atomics cost neither of them time: on an H200 plain stores in their place change it by less than 0.1 %% "
               "([variants](%s#global-against-shared-memory)). Instructions bind both." %
               (number(slots), number(gm + slots), number(sm), number((gm + slots) / sm), REASONS))
    page.say("What the cached table saves is far from the paper's share. On an H200 nearly all look-ups in global memory are found in "
             "L1, and with DPT 1 copying the table takes longer than look-ups in it save; with DPT 2, 4 and 8 it saves 9.9, 15.8 "
             "and 10.9 % ([variants]({}#the-cached-table)). Why less with 8 is not known. Texture memory takes 1.07 times as many "
             "instructions.".format(REASONS))
    page.heading("Figure 5: data per thread")
    page.say("Milliseconds at %g MB, with the table cached:" % size)
    page.table(["DPT", "1", "2", "4", "8"],
               [["aggregate codewords kept"] + [time("pavle_dpt%d_codes" % dpt, size) for dpt in (1, 2, 4, 8)],
                ["looked up twice", ""] + [time("pavle_dpt%d_table" % dpt, size) for dpt in (2, 4, 8)]])
    page.plot("figure-5", "Figure 5: kernel time over size by DPT", "MB", "milliseconds",
              {"DPT %d" % dpt: [(one, time("pavle_dpt%d_codes" % dpt, one)) for one in sorted(points)] for dpt in (1, 2, 4, 8)})
    fastest = min((1, 2, 4, 8), key=lambda dpt: time("pavle_dpt%d_codes" % dpt, size))
    page.say("The paper's best DPT is 4; it names the shared memory that larger ones need. Here DPT %d is the "
             "fastest, at %s GB/s. On an H200 a warp takes 294, 231, 185 and 160 instructions for a word of each thread with DPT 1, "
             "2, 4 and 8 ([variants](%s#data-per-thread))." % (fastest, number(gigabytes / best), REASONS))
