"""Feeds altered clips to cu264.ray's decoder: `python fuzz_clips.py [CLIPS] [SEED]`; test_ray_fuzz.py has a short run.

Whatever the bytes, the result is a coded clip or an exception of the kinds that a stage reports as "failed", soon, and
with bounded memory.
"""

from __future__ import annotations

import io
import pathlib
import random
import sys
import time

import av
import numpy as np

import cu264
import test_hostile_media
from cu264.ray import transcode_clip

LONGEST = 20.0  # seconds a clip, on a busy machine
EXPECTED = (ValueError, OSError, RuntimeError, MemoryError, av.FFmpegError)


def seeds():
    """Whole clips of every container, with and without audio, and texts that name other files."""
    frames = np.random.default_rng(1).integers(0, 256, (4, 32, 48, 3), dtype=np.uint8)
    tone = np.sin(np.arange(9600) * 0.05).astype(np.float32) * 0.4
    settings = {"preset": "fast", "qp": 40}
    clips = [cu264.encode(frames, 25, container=name, **settings) for name in ("mp4", "fmp4", "h264", "mkv", "ts")]
    clips += [cu264.encode(frames, 25, container=name, audio=(tone, 48000), **settings) for name in ("mp4", "mkv", "ts")]
    clips += [text.encode() for text in test_hostile_media.texts(pathlib.Path("/etc/passwd"), 9).values()]
    return clips


def altered(clips, chance):
    data = bytearray(chance.choice(clips))
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at, size = chance.randrange(len(data) + 1), chance.choice((1, 1, 2, 4, 16, 200))
        kind = chance.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[at : at + size] = chance.randbytes(size)
        elif kind == 2:
            del data[at : at + size]
        elif kind == 3:
            data[at:at] = data[at : at + size]
        elif kind == 4:
            data[at : at + 4] = chance.choice((0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)).to_bytes(4, "big")
        else:
            other = chance.choice(clips)
            begin = chance.randrange(len(other))
            data[at:at] = other[begin : begin + size]
    return bytes(data)


def run(count, seed):
    """Returns how many altered clips were coded, and how many refused."""
    clips, chance = seeds(), random.Random(seed)
    coded = refused = 0
    for number in range(count):
        data = altered(clips, chance)
        begin = time.monotonic()
        try:
            result = transcode_clip(chance.choice((data, io.BytesIO(data))), preset="fast", qp=40, backend="cpu")
            assert result.data
            coded += 1
        except EXPECTED:
            refused += 1
        took = time.monotonic() - begin
        assert took < LONGEST, f"clip {number} of seed {seed} took {took:.0f} s"
    return coded, refused


if __name__ == "__main__":
    print(*run(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, int(sys.argv[2]) if len(sys.argv) > 2 else 1))
