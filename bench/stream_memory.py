#!/usr/bin/env python3
"""Measures how much memory `cu264 protect encrypt` needs for a long stream that comes through a pipe.

  bench/stream_memory.py STREAM.264 GIGABYTES [CU264 OPTION...]

The stream, which must begin with its parameter sets, is repeated up to that size. Prints the bytes that went in and
came out, the seconds and the largest resident set. CU264 names the command (build/bin/cu264).
"""
import os
import subprocess
import sys
import threading
import time


def feed(pipe, stream, total):
    block = stream * max(1, (1 << 22) // len(stream))
    sent = 0
    with pipe:
        while sent < total:
            pipe.write(block)
            sent += len(block)


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    with open(sys.argv[1], "rb") as file:
        stream = file.read()
    total = int(float(sys.argv[2]) * 1e9)
    command = [os.environ.get("CU264", "build/bin/cu264"), "protect", "encrypt", "-", "-o", "-", *sys.argv[3:]]
    environment = dict(os.environ, CU264_KEY="0123456789abcdef" * 4)
    begin = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
    feeder = threading.Thread(target=feed, args=(process.stdin, stream, total), daemon=True)
    feeder.start()
    out = 0
    buffer = bytearray(1 << 20)
    while got := process.stdout.readinto(buffer):
        out += got
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"cu264 ended with status {status}")
    feeder.join()
    seconds = time.monotonic() - begin
    print(f"{total / 1e9:.2f} GB in, {out / 1e9:.2f} GB out, {seconds:.1f} s, {total / seconds / 1e6:.0f} MB/s, "
          f"at most {usage.ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
