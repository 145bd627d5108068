"""cu264.vle: containers and codes."""

import heapq
import io
import os
import subprocess

import numpy as np
import pytest

import cu264
from cu264 import vle

DATA = np.random.default_rng(3).geometric(0.08, 300_000).clip(0, 255).astype(np.uint8).tobytes()


def test_compress_and_expand():
    packed = vle.compress(DATA, threads=2)
    assert len(packed) < 0.75 * len(DATA)
    assert vle.expand(packed) == DATA
    assert vle.expand(vle.compress(b"")) == b""
    assert vle.compress(np.frombuffer(DATA, np.uint8)) == packed
    for wrong in (packed[:-1], packed[:5000] + bytes([packed[5000] ^ 4]) + packed[5001:], b"", DATA):
        with pytest.raises(ValueError):
            vle.expand(wrong)


def test_files(tmp_path):
    (tmp_path / "data").write_bytes(DATA)
    with open(tmp_path / "data", "rb") as source, open(tmp_path / "packed", "wb") as target:
        sizes = vle.compress_file(source, target)
    packed = (tmp_path / "packed").read_bytes()
    assert sizes == (len(DATA), len(packed)) and packed == vle.compress(DATA)
    target = io.BytesIO()
    assert vle.expand_file(io.BytesIO(packed), target) == sizes
    assert target.getvalue() == DATA
    command = os.environ.get("CU264")
    if command:
        subprocess.run([command, "vle", "expand", tmp_path / "packed", "-o", tmp_path / "back"], check=True)
        assert (tmp_path / "back").read_bytes() == DATA


def test_errors_of_files_are_passed_on():
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError("the disk is full")

    class Short(io.RawIOBase):
        """Gives 1000 bytes at a time, as a pipe may."""

        def __init__(self):
            self.data = io.BytesIO(DATA)

        def read(self, size=-1):
            return self.data.read(min(size, 1000))

    with pytest.raises(OSError, match="disk is full"):
        vle.compress_file(io.BytesIO(DATA), Full())
    target = io.BytesIO()
    vle.compress_file(Short(), target)
    assert target.getvalue() == vle.compress(DATA)
    with pytest.raises(TypeError, match="must return bytes"):
        vle.compress_file(io.StringIO("text"), io.BytesIO())


def huffman_bits(counts):
    """Bits of the best code without a limit: the sum of the weights of all inner nodes of the tree."""
    heap = [count for count in counts if count]
    heapq.heapify(heap)
    total = 0
    while len(heap) > 1:
        joined = heapq.heappop(heap) + heapq.heappop(heap)
        total += joined
        heapq.heappush(heap, joined)
    return total


def test_codes():
    counts = vle.histogram(DATA)
    assert counts == np.bincount(np.frombuffer(DATA, np.uint8), minlength=256).tolist()
    table = cu264.vle.CodeTable(counts, longest=32)
    stream, bits = table.encode(DATA)
    assert bits == huffman_bits(counts) and len(stream) == (bits + 7) // 8
    first = DATA[0]
    assert f"{int.from_bytes(stream[:8], 'big'):064b}".startswith(f"{table.codes[first]:0{table.lengths[first]}b}")
    assert table.decode(stream, bits, len(DATA)) == DATA
    assert max(vle.CodeTable(counts, longest=9).lengths) == 9
    with pytest.raises(ValueError, match="no code|without a code"):
        vle.CodeTable(vle.histogram(b"ab")).encode(b"abc")
    with pytest.raises(ValueError):
        table.decode(stream, bits, len(DATA) + 1)
    with pytest.raises(ValueError):
        table.decode(stream, bits, bits + 1)
