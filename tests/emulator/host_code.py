#!/usr/bin/env python3
"""host_code.py ROOT OUT FILE...: the C++ form of CUDA sources, for tests/emulator.

FILEs are relative to ROOT; OUT gets a.cu as a.cu.cpp and a.cuh as a.cuh.
"""
import pathlib
import re
import sys


def closing(text, at, step):
    """The bracket that pairs with the one at `at`, looking forwards (step 1) or backwards (-1)."""
    pairs = {"(": ")", ">": "<"}
    open_, close, depth = text[at], pairs[text[at]], 0
    while True:
        depth += (text[at] == open_) - (text[at] == close)
        if depth == 0:
            return at
        at += step


def launches(text):
    """kernel<<<grid, block, bytes, stream>>>(arguments) becomes a call with a body that a thread runs."""
    while (at := text.find("<<<")) >= 0:
        end = len(text[:at].rstrip())
        begin = end - 1
        if text[begin] == ">":
            begin = closing(text, begin, -1) - 1
        while text[begin].isalnum() or text[begin] in "_:":
            begin -= 1
        kernel, shape_end = text[begin + 1:end], text.index(">>>", at)
        opening = text.index("(", shape_end)
        last = closing(text, opening, 1)
        call = f"emulator::launch({text[at + 3:shape_end]}, [&] {{ {kernel}{text[opening:last + 1]}; }})"
        text = text[:begin + 1] + "::cu264::" + call + text[last + 1:]
    return text


PTX = [
    # A barrier for the 64 threads of two warps.
    (r'asm volatile\("barrier\.sync 1, 64;" ::: "memory"\);', "::cu264::emulator::wait_at_barrier(1, 64);"),
    (r'asm volatile\("barrier\.sync %0, %1;" ::"r"\((\w+)\), "r"\((\w+)\) : "memory"\);',
     r"::cu264::emulator::wait_at_barrier(\1, \2);"),
    (r'asm\("sqrt\.approx\.f32 %0, %1;" : "=f"\((\w+)\) : "f"\((.*?)\)\);', r"\1 = std::sqrt(\2);"),
    (r'asm\("ld\.global\.nc\.L1::evict_first\.v4\.u32.*?"l"\((\w+)\)\);', r"value = *\1;"),
    # shfl.up with its predicate: adds the value if the source lane exists.
    (r'asm volatile\(\s*"\{ \.reg \.pred there;.*?: "\+r"\((\w+)\)\s*: "r"\((\w+)\)\);',
     r"if (const auto other = __shfl_up_sync(0xffffffffu, \1, \2); "
     r"::cu264::emulator::lane() >= static_cast<int>(\2)) \1 += other;"),
]
# Lanes of a warp may store one value to one address at once: CUDA does one of the stores (Programming Guide, "SIMT
# Architecture"). ThreadSanitizer has to see that they are no race.
SAME_STORES = [
    r"(s\.dc\[4 \* by \+ bx\]) = (coefficient);",  # an idle half of a warp repeats the block of the other one
    r"(\*s_rest) = (0);",  # codes of several lanes may end in one word
]
INDICES = {"threadIdx": "thread", "blockIdx": "block", "blockDim": "block_size", "gridDim": "grid_size"}


def host_code(text):
    text = re.sub(r"extern __shared__ (?:__align__\(\d+\) )?([\w:]+) (\w+)\[\];",
                  r"\1* const \2 = ::cu264::emulator::dynamic_shared<\1>();", text)
    text = launches(text)
    for ptx, host in PTX:
        text = re.sub(ptx, host, text, flags=re.S)
    for store in SAME_STORES:
        text = re.sub(store, r"::std::atomic_ref(\1).store(\2, ::std::memory_order_relaxed);", text)
    for word, member in INDICES.items():
        text = re.sub(rf"(?<![.\w]){word}\b", f"::cu264::emulator::here->{member}", text)
    text = re.sub(r"\b__noinline__\b", "__attribute__((noinline))", text)
    text = text.replace("cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments)",
                        "::cu264::emulator::launch_configured(&config, kernel, kernel_call)")
    return re.sub(r"\bcudaLaunchKernelEx\(", "::cu264::emulator::launch_configured(", text)


def main():
    root, out = map(pathlib.Path, sys.argv[1:3])
    for name in sys.argv[3:]:
        # Without the root, so that ccache finds what another clone has compiled.
        text = f'#include "device_code.h"\n#line 1 "{name}"\n' + host_code((root / name).read_text())
        to = out / (name + (".cpp" if name.endswith(".cu") else ""))
        if name.endswith(".cuh"):
            text = "#pragma once\n" + text.replace("#pragma once\n", "\n", 1)
        to.parent.mkdir(parents=True, exist_ok=True)
        if not to.exists() or to.read_text() != text:  # an unchanged file is not compiled again
            to.write_text(text)


if __name__ == "__main__":
    main()
