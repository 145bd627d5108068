#!/usr/bin/env python3
"""Measures how much damage a watermark survives. A mark that is read says little about the rest of a stream.

  bench/mark_damage.py CLIP [--cu264 build/bin/cu264] [--frames 60] [--qp 26]

Prints, for each scheme and each damage, whether the mark was read and how far the damaged pictures are from the marked
ones (PSNR of luma, dB; 'same' where no sample differs).
"""
import argparse
import os
import random
import re
import subprocess
import tempfile

PAYLOAD = b"sixteen bytes ok"
UUID = bytes.fromhex("8f2c71d40b5e4a96b31ac2649de7503f")


def units_of(stream):
    """The NAL units, each with its start code."""
    starts = [match.start() for match in re.finditer(rb"\x00?\x00\x00\x01", stream)]
    return [stream[begin:end] for begin, end in zip(starts, starts[1:] + [len(stream)])]


def unit_type(unit):
    return unit[4 if unit[2] == 0 else 3] & 31


def is_encryption_message(unit):
    at = unit.find(UUID)
    return unit_type(unit) == 6 and at >= 0 and unit[at + 16] == 1


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        for name, byte in (("owner", 1), ("foreign", 2)):
            self.write(name, bytes([byte] * 32))
        self.write("payload", PAYLOAD)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, data):
        with open(self.path(name), "wb") as out:
            out.write(data)
        os.chmod(self.path(name), 0o600)

    def read(self, name):
        with open(self.path(name), "rb") as data:
            return data.read()

    def cu264(self, *words, key="owner"):
        done = subprocess.run([self.arguments.cu264, *map(str, words), "-y", "--key-file", self.path(key)],
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        return done.returncode

    def marked(self, how, scheme):
        common = ("--qp", self.arguments.qp, "--frames", self.arguments.frames, "--quiet")
        coding = ("--profile", "baseline")
        marking = ("--payload", self.path("payload"))
        if how == "encoder":
            code = self.cu264("encode", self.arguments.clip, "-o", self.path("marked.264"), *common, *coding, "--watermark",
                              scheme, *marking)
        else:
            subprocess.run([self.arguments.cu264, "encode", self.arguments.clip, "-o", self.path("plain.264"), "-y",
                            *map(str, common), *coding], check=True)
            code = self.cu264("watermark", "embed", self.path("plain.264"), "-o", self.path("marked.264"), "--scheme", scheme,
                              *marking)
        return units_of(self.read("marked.264")) if code == 0 else None

    def is_read(self, units):
        self.write("damaged.264", b"".join(units))
        if self.cu264("watermark", "extract", self.path("damaged.264"), "-o", self.path("found")) != 0:
            return False
        return self.read("found") == PAYLOAD

    def psnr(self):
        """Returns the PSNR of the pictures of damaged.264 to those of marked.264, one by one."""
        text = subprocess.run(["ffmpeg", "-v", "info", "-i", self.path("damaged.264"), "-i", self.path("marked.264"), "-lavfi",
                               "psnr", "-f", "null", "-"], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL).stderr.decode()
        found = re.search(r"y:(inf|[\d.]+)", text)
        return "same" if found and found[1] == "inf" else found[1][:5] if found else "-"


def damages(bench, units):
    """(what was done, the damaged units) for each damage."""
    slices = [i for i, unit in enumerate(units) if unit_type(unit) == 5]
    for parts in ("signs", "modes", "codewords", "modes,codewords", "signs,modes,codewords"):
        bench.cu264("protect", "encrypt", bench.path("marked.264"), "-o", bench.path("sealed.264"), "--parts", parts,
                    key="foreign")
        sealed = units_of(bench.read("sealed.264"))
        yield f"encrypted with a foreign key: {parts}", [unit for unit in sealed if not is_encryption_message(unit)]
    chance = random.Random(1)
    for percent in (10, 30, 50, 70, 90):
        replaced = list(units)
        for i in chance.sample(slices, len(slices) * percent // 100):
            replaced[i] = units[slices[0]]
        yield f"{percent} % of the pictures replaced by the first", replaced
    yield "the last half of the pictures cut off", units[:slices[len(slices) // 2]]
    yield "one picture cut out in the middle", [unit for i, unit in enumerate(units) if i != slices[len(slices) // 2]]
    yield "the first picture cut out", [unit for i, unit in enumerate(units) if i != slices[0]]
    for count in (1, 10):
        flipped = list(units)
        for i in chance.sample(slices, count):
            unit = bytearray(units[i])
            unit[chance.randrange(20, len(unit))] ^= 1 << chance.randrange(8)
            flipped[i] = bytes(unit)
        yield f"one bit flipped in {count} of the pictures", flipped
    yield "the watermark's message cut out", [unit for unit in units if unit_type(unit) != 6]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clip")
    parser.add_argument("--cu264", default="build/bin/cu264")
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--qp", type=int, default=26)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(parser.parse_args(), folder)
        print("| marked by | scheme | damage | mark | PSNR |\n|---|---|---|---|---|")
        for how in ("encoder", "stream tool"):
            for scheme in ("t1-sign", "t1-parity"):
                units = bench.marked(how, scheme)
                if units is None:
                    print(f"| {how} | {scheme} | none | no room | - |")
                    continue
                for what, damaged in damages(bench, units):
                    verdict = "read" if bench.is_read(damaged) else "lost"
                    print(f"| {how} | {scheme} | {what} | {verdict} | {bench.psnr()} |", flush=True)


if __name__ == "__main__":
    main()
