"""CUVLE, tables I and II: how much faster it is than a serial coder and than PAVLE, over entropies and sizes."""
from paper_page import number, statistics

TITLE = "CUVLE: variable-length encoding on CUDA"
REFERENCE = "Fuentes-Alventosa et al. 2014 ([docs/papers.md](../../../docs/papers.md#cuvle))"
# Minimum, maximum and average of the speed-ups, table I (GT 640, Kepler) and table II (GTX 550 Ti, Fermi).
TABLES = {"CPU-VLE": ((22.3, 29.2, 27.1), (20.3, 23.6, 21.8)),
          "PAVLE (kernel)": ((1.6, 2.2, 2.0), (1.7, 1.9, 1.8)),
          "PAVLE (total)": ((2.5, 4.2, 2.7), (2.0, 3.9, 2.5))}


def sweep(machine, most):
    """{(entropy, mebibytes): {(encoder, threads, part): row}}"""
    points = {}
    for row in machine.rows("vle-sweep", most) if machine.gpu else []:
        key = (row["encoder"], row["threads"], row["part"])
        points.setdefault((row["entropy"], row["mebibytes"]), {})[key] = row
    return points


def run(machine, inputs, page, quick):
    most = 1 if quick else 256
    cpu = {(row["entropy"], row["mebibytes"]): row for row in machine.rows("vle-sweep-cpu", most)}
    points = sweep(machine, most)
    page.say("Inputs as in the paper: random bytes of entropy 0 to 8 bits a symbol and 0.25 to %g MB, with their own Huffman "
             "codes; those of more than 4 MB repeat 4 MB. CUVLE with NET = 16; PAVLE is its sm64huff with DPT = 4 and both caches. The output "
             "is zeroed before, which is not counted." % most)
    serial_rates = [mebibytes * 1.048576 / row["serial_ms"] for (_, mebibytes), row in cpu.items()]
    page.say("The serial coder takes %s to %s GB/s here, on one core." % (number(min(serial_rates)), number(max(serial_rates))))
    if not points:
        page.table(["entropy", "MB", "serial, ms", "all cores, ms"],
                   [(str(key[0]), key[1], row["serial_ms"], row["parallel_ms"]) for key, row in sorted(cpu.items())])
        return
    times = {}
    for threads in (128, 1024):
        for key, encoders in points.items():
            cuvle = encoders["cuvle_net16", threads, "all"]["ms"]
            times.setdefault(("CPU-VLE", threads), []).append(cpu[key]["serial_ms"] / cuvle)
            times.setdefault(("PAVLE (kernel)", threads), []).append(encoders["pavle", 256, "kernel"]["ms"] / cuvle)
            times.setdefault(("PAVLE (total)", threads), []).append(encoders["pavle", 256, "all"]["ms"] / cuvle)
    page.heading("Tables I and II: CUVLE is faster than these by")
    page.say("The paper does not tell the size of CUVLE's thread blocks; here they have 128 or 1024 threads. Figures are "
             "minimum, maximum and average over all entropies and sizes.")
    rows = []
    for name, (kepler, fermi) in TABLES.items():
        ours = [(low, high, average) for average, low, high in (statistics(times[name, threads]) for threads in (128, 1024))]
        rows.append([name] + [" / ".join(number(value, 2) for value in triple) for triple in (kepler, fermi, *ours)])
    page.table(["", "table I (Kepler)", "table II (Fermi)", "here, 128 threads", "here, 1024 threads"], rows)
    page.data["results"]["tables I and II"] = {
        "%s, %d threads" % key: dict(zip(("average", "minimum", "maximum"), statistics(values))) for key, values in times.items()}

    chain = {}
    for key, encoders in points.items():
        for threads in (128, 1024):
            row = encoders["cuvle_net16", threads, "all"]
            inputs_of_blocks = row["bytes"] / (threads * 64)
            if inputs_of_blocks >= 1000:
                chain.setdefault(threads, []).append(1e6 * row["ms"] / inputs_of_blocks)
    why = ""
    if chain:
        why = ("CUVLE's thread blocks wait for one another in a chain: each adds its length to the sum of the block-input "
               "before and publishes the result, one after the other. " +
               " ".join("With %d threads a block-input takes %s ns (%s to %s, whatever its entropy)."
                        % (threads, *map(number, statistics(values))) for threads, values in chain.items()) +
               " That is the time of the whole kernel over its block-inputs, so that the chain alone explains it. PAVLE's "
               "blocks do not wait.")
    for name in ("PAVLE (kernel)", "PAVLE (total)"):
        page.order(name + " against CUVLE, average (128 threads)", name, "CUVLE", TABLES[name][0][2],
                   statistics(times[name, 128])[0], why if name == "PAVLE (kernel)" else "The reason is the same.")

    wins = {}
    for (_, mebibytes), encoders in points.items():
        cuvle = encoders["cuvle_net16", 1024, "all"]["ms"]
        wins.setdefault(mebibytes, []).append(encoders["pavle", 256, "all"]["ms"] / cuvle)
    wins = {size: statistics(ratios) for size, ratios in sorted(wins.items())}
    page.say("With blocks of 1024 threads, PAVLE (total) / CUVLE by size, average over the entropies: %s. The fewer the "
             "block-inputs, the shorter the chain, and below some size PAVLE's three launches cost more than it."
             % ", ".join("%g MB %s" % (size, number(average, 2)) for size, (average, _, _) in wins.items()))
    page.heading("Over sizes, entropy 2.2")
    series = {"serial CPU": [], "PAVLE, kernel": [], "PAVLE, total": [], "CUVLE, 128 threads": [], "CUVLE, 1024 threads": [],
              "GVLE": []}
    for (entropy, mebibytes), encoders in sorted(points.items()):
        if entropy != 2.2:
            continue
        series["serial CPU"].append((mebibytes, cpu[entropy, mebibytes]["serial_ms"]))
        for name, key in (("PAVLE, kernel", ("pavle", 256, "kernel")), ("PAVLE, total", ("pavle", 256, "all")),
                          ("CUVLE, 128 threads", ("cuvle_net16", 128, "all")),
                          ("CUVLE, 1024 threads", ("cuvle_net16", 1024, "all")), ("GVLE", ("gvle", 128, "all"))):
            series[name].append((mebibytes, encoders[key]["ms"]))
    page.plot("sizes", "Time over size, entropy 2.2 bits a symbol", "MB", "milliseconds", series, log_x=True, log_y=True)
    page.heading("Over entropies, the largest size")
    largest = max(key[1] for key in points)
    curves = {}
    for (entropy, mebibytes), encoders in sorted(points.items()):
        if mebibytes == largest:
            for name, key in (("PAVLE, total", ("pavle", 256, "all")), ("CUVLE, 1024 threads", ("cuvle_net16", 1024, "all")),
                              ("GVLE", ("gvle", 128, "all"))):
                curves.setdefault(name, []).append((entropy, encoders[key]["ms"]))
    page.plot("entropies", "Time over entropy, %g MB" % largest, "bits a symbol", "milliseconds", curves)

    page.heading("NET (section IV)")
    page.say("The paper finds NET = 8 or 16 best up to 1 MB, and 16 above. Milliseconds, entropy 2.2, blocks of 128 threads:")
    rows = []
    for (entropy, mebibytes), encoders in sorted(points.items()):
        nets = [encoders.get(("cuvle_net%d" % net, 128, "all")) for net in (1, 2, 4, 8, 16)]
        if entropy == 2.2 and all(nets):
            rows.append(["%g MB" % mebibytes] + [net["ms"] for net in nets])
    page.table(["", "1", "2", "4", "8", "16"], rows)
