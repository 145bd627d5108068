#!/usr/bin/env python3
"""Makes the table of states by which the search counts CABAC's bits: core/cabac_typical_states.h.

  bench/cabac_rate.py PROGRAMS CLIP... > core/cabac_typical_states.h

PROGRAMS is the folder of cabac_states, which encodes each clip at five QPs with the presets `balanced` and `best` and
tells where the states of the contexts are. Each stream counts the same, however many bins it has. Contexts that differ by
neighbours which the search does not know share one state. The search of these streams counts CAVLC's bits: tables made
from streams whose search counted by such a table overstate what is rare, and lose a quarter of the gain. Needs ffmpeg.
"""
import json
import os
import subprocess
import sys
import tempfile

QPS = [10, 18, 26, 34, 42]
CONTEXTS = 258
# First context and number of those that the search does not tell apart (core/cabac_contexts.h).
SHARED = [(0, 3), (12, 3), (18, 4), (22, 4), (26, 4), (30, 4), (42, 4), (221, 3)]
LEAST_BINS = 200  # a context with fewer bins in a stream is left out there


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def states_of(programs, clip):
    """Returns the lines of cabac_states for all presets."""
    with tempfile.TemporaryDirectory() as folder:
        size = output("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "stream=width,height", "-of",
                      "csv=p=0:s=x", clip).strip()
        raw = os.path.join(folder, "raw.yuv")
        output("ffmpeg", "-v", "error", "-i", clip, "-vsync", "0", "-pix_fmt", "yuv420p", raw)
        lines = []
        for preset in ("balanced", "best"):
            found = output(os.path.join(programs, "cabac_states"), raw, size, preset, *map(str, QPS))
            lines += [json.loads(line) for line in found.splitlines()]
        return lines


def initial_state(programs):
    return json.loads(output(os.path.join(programs, "cabac_states"), "--initial", *map(str, QPS)))


def merged(line):
    """Counts shared contexts as one."""
    bins, sums = list(line["bins"]), list(line["sums"])
    for first, count in SHARED:
        here = range(first, first + count)
        all_bins, all_sums = sum(bins[i] for i in here), sum(sums[i] for i in here)
        for i in here:
            bins[i], sums[i] = all_bins, all_sums
    return bins, sums


def typical(lines, initial):
    """Returns the state of each context at each QP, the mean over streams."""
    for states in initial:
        for first, count in SHARED:
            states[first:first + count] = [sum(states[first:first + count]) / count] * count
    table = []
    for context in range(CONTEXTS):
        row = []
        for index, qp in enumerate(QPS):
            total = weight = 0.0
            for line in lines:
                bins, sums = line["merged"]
                if line["qp"] != qp or bins[context] < LEAST_BINS:
                    continue
                total += sums[context] / bins[context]
                weight += 1
            # Where streams hardly use a context, it stays near its initial state.
            row.append(round((total + initial[index][context]) / (weight + 1)))
        table.append(row)
    return table


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    programs, lines = sys.argv[1], []
    for clip in sys.argv[2:]:
        lines += states_of(programs, clip)
    for line in lines:
        line["merged"] = merged(line)
    table = typical(lines, initial_state(programs))
    print("""// Where the states of CABAC's contexts are in typical streams, by QP. Made by bench/cabac_rate.py; not to be
// changed by hand.
#pragma once

#include <cstdint>

#include "core/cabac_contexts.h"

namespace cu264::core {

inline constexpr int kTypicalQps[5] = {%s};

// By context and QP, as 0 .. 127 in the order of the probability of a one: 63 and less where a zero is the
// more probable.
// clang-format off
inline constexpr std::uint8_t kTypicalStates[kCabacContexts][5] = {""" % ", ".join(map(str, QPS)))
    cells = ["{%s}" % ", ".join(map(str, row)) for row in table]
    for start in range(0, CONTEXTS, 4):
        print("    " + ", ".join(cells[start:start + 4]) + ",")
    print("""};
// clang-format on

}  // namespace cu264::core""")


if __name__ == "__main__":
    main()
