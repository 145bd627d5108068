"""Qualities, bitrates and limits, which the library's own tests measure: here, that they arrive."""

import numpy as np
import pytest

import cu264


def packets(clip, **settings):
    return list(cu264.Encoder(25, preset="fast", **settings).packets(clip))


def sizes(clip, **settings):
    return [packet.size for packet in packets(clip, **settings)]


@pytest.fixture(scope="module")
def noisy():
    """Pictures whose sizes follow the quantiser closely."""
    return np.random.default_rng(1).integers(0, 256, (50, 48, 64, 3), dtype=np.uint8)


def test_crf_is_a_quality(clip):
    assert sum(sizes(clip, crf=20)) > sum(sizes(clip, crf=20.5)) > sum(sizes(clip, crf=30))


def test_bitrate(noisy):
    for bitrate in (300_000, 600_000):
        assert sum(sizes(noisy, bitrate=bitrate)) * 8 / 2 == pytest.approx(bitrate, rel=0.1)


def test_a_larger_buffer_allows_a_larger_picture(noisy):
    mixed = np.concatenate([np.zeros_like(noisy[:25]), noisy[:25]])
    small = sizes(mixed, bitrate=400_000, buffer_bits=25_000)
    large = sizes(mixed, bitrate=400_000, buffer_bits=800_000)
    assert max(small) * 8 <= 25_000 < max(large) * 8


def test_max_frame_bytes(noisy):
    limit = max(sizes(noisy, qp=30)) // 2
    assert limit * 0.9 < max(sizes(noisy, qp=30, max_frame_bytes=limit)) <= limit
    with pytest.raises(RuntimeError, match="exceeds"):
        packets(noisy, max_frame_bytes=100)


def test_reconfigure(noisy):
    encoder = cu264.Encoder(25, preset="fast", bitrate=300_000)
    before = encoder.send(noisy) + encoder.flush()
    encoder.reconfigure(bitrate=600_000)
    after = encoder.send(noisy) + encoder.flush()
    assert [p.size for p in before] == sizes(noisy, bitrate=300_000)
    assert [p.size for p in after] == sizes(noisy, bitrate=600_000)
    with pytest.raises(ValueError, match="0 to 51"):
        encoder.reconfigure(crf=60)
