"""The hypothetical reference decoder of H.264 annex C, fed with what ffmpeg's bitstream filter trace_headers reads."""
import math
import re
import subprocess
from fractions import Fraction

from support import TIMEOUT

LINE = re.compile(r"\] \d+ +([\w\[\]]+) +[01]+ = (-?\d+)")


def traced(path):
    """The values of each access unit by the names of their syntax elements, and the access unit's size."""
    done = subprocess.run(["ffmpeg", "-v", "info", "-nostats", "-i", str(path), "-c", "copy", "-bsf:v", "trace_headers",
                           "-f", "null", "-"], check=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE)
    units = []
    for line in done.stderr.decode(errors="replace").splitlines():
        packet = re.search(r"Packet: (\d+) bytes", line)
        value = LINE.search(line)
        if packet:
            units.append({"bytes": int(packet[1])})
        elif value and units:
            units[-1].setdefault(value[1], int(value[2]))
    return units


class Buffer:
    """Follows a stream through its buffer (C.1) and lists what breaks its rules (C.3)."""

    def __init__(self, units):
        head = units[0]
        self.cbr = head["cbr_flag[0]"] == 1
        self.rate = (head["bit_rate_value_minus1[0]"] + 1) << (6 + head["bit_rate_scale"])
        self.size = (head["cpb_size_value_minus1[0]"] + 1) << (4 + head["cpb_size_scale"])
        tick = Fraction(head["num_units_in_tick"], head["time_scale"])
        self.faults = []
        self.fullness = []  # after each picture has left; None once all of the stream has arrived
        self.seconds = 0
        removal, arrived, pending = Fraction(0), Fraction(0), []  # pending: (start, end, bits) of pictures in the buffer
        times = []
        for number, unit in enumerate(units):
            delay = unit["initial_cpb_removal_delay[0]"] if "initial_cpb_removal_delay[0]" in unit else \
                unit["initial_cpb_removal_delay"]
            if not 0 < delay <= 90000 * self.size / self.rate:
                self.faults.append(f"picture {number}: the delay {delay} is out of range")
            if number == 0:
                removal = Fraction(delay, 90000)
                begin = Fraction(0)
            else:
                removal += tick * unit["cpb_removal_delay"]
                room = 90000 * (removal - arrived)
                if delay > math.ceil(room) or (self.cbr and delay < math.floor(room)):
                    self.faults.append(f"picture {number}: the delay {delay} does not suit {float(room):.1f}")
                begin = arrived if self.cbr else max(arrived, removal - Fraction(delay, 90000))
            arrived = begin + Fraction(8 * unit["bytes"], self.rate)
            if arrived > removal:
                self.faults.append(f"picture {number}: underflow by {float((arrived - removal) * self.rate):.0f} bits")
            times.append((begin, arrived, removal, 8 * unit["bytes"]))
        for number, (_, _, moment, bits) in enumerate(times):
            full = 0
            for begin, end, _, size in times[number:]:
                if begin >= moment:
                    break
                full += size if end <= moment else (moment - begin) * self.rate
            if full > self.size:
                self.faults.append(f"picture {number}: overflow by {float(full - self.size):.0f} bits")
            self.fullness.append(float(full - bits) if times[-1][1] > moment else None)
        self.seconds = len(units) * 2 * tick
