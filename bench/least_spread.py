#!/usr/bin/env python3
"""Finds how little the PSNR of pictures can differ if no second's bits may differ from the bitrate by more than a bound.

    bench/least_spread.py [--cu264 build/bin/cu264] [--bounds 0.1 0.28] [options of rate_control.py] CLIP [CLIP ...]

Codes the clips of rate_control.py at QP 8, 12 .. 48 and takes sizes and PSNR between from straight lines over the QP. Then it looks for the
QP of each picture with all pictures known beforehand, which no encoder can: each second's bits above or below the bound have a price, which
rises until they are within it (dual ascent), and each picture takes the QP at which the square of its distance from a common PSNR, and its
bits at the prices of the seconds that it is in, are least. The mean of the later solutions is printed, with its own worst second.
"""
import math
import statistics
import tempfile

import rate_control

FPS = rate_control.FPS
QPS = range(8, 49, 4)
STEPS = 8  # of a QP
ROUNDS = 3000


def lines(values):
    """Values between those of QPS, by straight lines."""
    return [a + (b - a) * step / (4 * STEPS) for a, b in zip(values, values[1:]) for step in range(4 * STEPS)] + [values[-1]]


def least(pictures, bound):
    """`pictures`: for each, logarithms of bits (1 is a picture's share of the rate) and PSNR by QP. Returns such pairs."""
    count = len(pictures)
    bits = [[math.exp(x) for x in logs] for logs, _ in pictures]
    psnr = [values for _, values in pictures]
    place = [min(range(len(b)), key=lambda i: abs(b[i] - 1)) for b in bits]
    goal = statistics.mean(p[i] for p, i in zip(psnr, place))
    above, below = [0.0] * count, [0.0] * count  # the prices of the second that begins with a picture
    sums, summed = [0.0] * count, 0
    for turn in range(ROUNDS):
        price = 0.0
        for n in range(count):
            price += above[n] - below[n]
            if n >= FPS:
                price -= above[n - FPS] - below[n - FPS]
            b, p, i = bits[n], psnr[n], place[n]
            cost = (p[i] - goal) ** 2 + price * b[i]
            for way in (1, -1):
                while 0 <= i + way < len(b) and (p[i + way] - goal) ** 2 + price * b[i + way] < cost:
                    i += way
                    cost = (p[i] - goal) ** 2 + price * b[i]
            place[n] = i
        now = [b[i] for b, i in zip(bits, place)]
        total = sum(now) / count - 1
        goal += 0.05 * (statistics.fmean(p[i] for p, i in zip(psnr, place)) - goal) - math.copysign(0.02 * (abs(total) > 0.002), total)
        step, second = 30 / (1 + 0.02 * turn), sum(now[:FPS])
        for n in range(count - FPS + 1):
            error = second / FPS - 1
            above[n] = max(0.0, above[n] + step * (error - bound))
            below[n] = max(0.0, below[n] - step * (error + bound))
            if n + FPS < count:
                second += now[n + FPS] - now[n]
        if turn >= ROUNDS // 2:
            summed += 1
            sums = [s + math.log(b) for s, b in zip(sums, now)]
    found = []
    for n in range(count):
        i = min(range(len(bits[n])), key=lambda i: abs(math.log(bits[n][i]) - sums[n] / summed))
        found.append((bits[n][i], psnr[n][i]))
    return found


def main():
    parser = rate_control.parser_of(__doc__)
    parser.add_argument("--bounds", type=float, nargs="+", default=[0.1, 0.28])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        source = rate_control.joined(options, folder)
        coded = [rate_control.encode(options, source, folder, "--qp", qp, "--aq", "off") for qp in QPS]
    logs = [lines([math.log(8 * one["bytes"]) for one in picture]) for picture in zip(*coded)]
    psnr = [lines([one["psnr"]["y"] for one in picture]) for picture in zip(*coded)]
    print("| bitrate of | bound, % | error, % | worst second, % | luma PSNR | its deviation |")
    print("|---|---:|---:|---:|---:|---:|")
    for qp in (22, 27, 32):
        share = math.log(statistics.fmean(math.exp(one[(qp - QPS[0]) * STEPS]) for one in logs))
        for bound in options.bounds:
            found = least([([x - share for x in one], values) for one, values in zip(logs, psnr)], bound)
            bits = [b for b, _ in found]
            worst = max((sum(bits[n:n + FPS]) / FPS - 1 for n in range(len(bits) - FPS + 1)), key=abs)
            values = [p for _, p in found]
            print(f"| qp {qp} | {100 * bound:.0f} | {100 * (statistics.fmean(bits) - 1):+.2f} | {100 * worst:+.1f} | "
                  f"{statistics.fmean(values):.2f} | {statistics.pstdev(values):.2f} |", flush=True)


if __name__ == "__main__":
    main()
