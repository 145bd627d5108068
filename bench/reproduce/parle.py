"""PARLE, the article's graph: time over sizes, for random and for compressible input, beside the processor."""
from paper_page import number

TITLE = "PARLE: run-length encoding in CUDA"
REFERENCE = "the article after Balevic ([docs/papers.md](../../../docs/papers.md#parle))"
KINDS = {1: "random digits", 9: "runs of 9", 10000: "runs of 10 000"}


def run(machine, inputs, page, quick):
    most = 1e5 if quick else 1e8
    cpu = {(row["run"], row["symbols"]): row["ms"] for row in machine.rows("rle-cpu", most)}
    gpu = {}
    for row in machine.rows("rle-sweep", most) if machine.gpu else []:
        gpu.setdefault(row["coder"], {})[row["run"], row["symbols"]] = row["ms"]
    page.say("Symbols of 32 bits, as the article has them, in device memory. \"Random\" is its first kind of data and runs "
             "of 9 its second; long runs are ours. Its graph (GTX 960) has no numbers beside it, only: up to 5 times as fast "
             "as the processor, faster for compressible data than for random, the processor the same for both.")
    for run_length, name in KINDS.items():
        series = {"serial CPU": [(size, time) for (run, size), time in cpu.items() if run == run_length]}
        for coder, times in gpu.items():
            series[coder] = [(size, time) for (run, size), time in times.items() if run == run_length]
        page.plot("graph-%d" % run_length, "Time over size: %s" % name, "symbols", "milliseconds", series, log_x=True, log_y=True)
    size = max(size for _, size in cpu)
    page.heading("%g million symbols" % (size / 1e6))
    rows = []
    for run_length, name in KINDS.items():
        row = [name, cpu[run_length, size]]
        for coder in ("PARLE", "device_encode"):
            time = gpu.get(coder, {}).get((run_length, size))
            row += [time, cpu[run_length, size] / time if time else None]
        rows.append(row)
    page.table(["input", "serial CPU, ms", "PARLE, ms", "faster by", "device_encode, ms", "faster by"], rows)
    page.data["results"]["largest"] = [dict(zip(("input", "cpu_ms", "parle_ms", "parle_faster", "own_ms", "own_faster"), row))
                                       for row in rows]
    if not gpu:
        return
    parle = gpu["PARLE"]
    page.compared("claim", [("CPU / PARLE, random, the most over all sizes (\"up to 5\")", 5,
                             max(cpu[key] / time for key, time in parle.items() if key[0] == 1))])
    page.order("Random against compressible data", "random", "runs of 9", 1.1, parle[1, size] / parle[9, size],
               "The last kernel has less to do where runs are longer.")
    page.say("The processor takes %s times as long for random digits as for runs of 9; the article found no difference."
             % number(cpu[1, size] / cpu[9, size]))
