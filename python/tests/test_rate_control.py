"""Qualities, bitrates and limits, which the library's own tests measure: here, that they arrive."""

import asyncio
import io

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


def test_cbr(noisy):
    sizes_with, sizes_without = sizes(noisy // 8, bitrate=10**6, cbr=True), sizes(noisy // 8, bitrate=10**6)
    assert sum(sizes_without) * 8 / 2 < 800_000 < 900_000 < sum(sizes_with) * 8 / 2 <= 1_000_000


def test_frame_bytes(noisy):
    assert set(sizes(noisy, frame_bytes=8000)) == {8000}
    assert len(cu264.encode(noisy, 25, frame_bytes=8000, container="ts")) > 50 * 8000
    for settings in ({"frame_bytes": 8000}, {"bitrate": 10**6, "cbr": True}):
        with pytest.raises(ValueError, match="filler"):
            cu264.encode(noisy, 25, **settings)


@pytest.fixture(scope="module")
def mixed(noisy):
    """Pictures of which every third is easy to code, and smaller even with a stream's headers than the others."""
    pictures = np.tile(noisy, (1, 2, 2, 1))
    pictures[::3] = 0
    return pictures


def test_pictures_are_dropped(mixed, decode):
    settings = {"preset": "fast", "max_frame_bytes": 300, "on_overflow": "drop"}
    encoder = cu264.Encoder(25, **settings)
    for _ in range(2):
        packets = list(encoder.packets(mixed))
        assert 0 < len(packets) < 50 and encoder.dropped == 50 - len(packets)
        assert max(packet.size for packet in packets) <= 300

    async def collect():
        return [packet.pts async for packet in encoder.packets(mixed)]

    assert asyncio.run(collect()) == [packet.pts for packet in packets]
    file = io.BytesIO()
    with cu264.VideoWriter(file, 25, **settings) as video:
        video.write(mixed)
    assert video.dropped > 0 and len(decode(file.getvalue())) == (50 - video.dropped) * 96 * 128 * 3 // 2
    stream = cu264.StreamEncoder(25, **settings)
    data = b"".join(stream.encode(chunk) for chunk in np.split(mixed, 10)) + stream.close()
    assert decode(data) == decode(file.getvalue())
    group = cu264.StreamGroup(queue=50)
    with group.open(25, **settings) as camera:
        for picture in mixed:
            assert camera.submit(picture)
        camera.flush()
        found = []
        while packet := camera.receive():
            found.append(packet.data)
        assert found == [packet.data for packet in packets] and camera.dropped == 50 - len(found)


def test_single_pictures_have_quantisers(noisy):
    pictures, qps = noisy[:4], [20, None, 40, 51]
    encoder = cu264.Encoder(25, preset="fast", qp=30)
    found = encoder.send(pictures, qps=qps) + encoder.flush()
    assert [packet.qp for packet in found] == [20, 30, 40, 51]
    assert all(a.size > 1.3 * b.size for a, b in zip(found, found[1:]))
    whole = cu264.encode(pictures, 25, preset="fast", qp=30, qps=qps)
    file = io.BytesIO()
    with cu264.VideoWriter(file, 25, preset="fast", qp=30) as video:
        for picture, qp in zip(pictures, qps):
            video.write(picture, qps=[qp])
    assert file.getvalue() == whole != cu264.encode(pictures, 25, preset="fast", qp=30)
    file = io.BytesIO()
    cu264.write_video(file, pictures, 25, preset="fast", qp=30, qps=qps)
    assert file.getvalue() == whole
    stream = cu264.StreamEncoder(25, container="h264", preset="fast", qp=30)
    expected = cu264.encode(pictures, 25, container="h264", preset="fast", qp=30, qps=qps)
    assert stream.encode(pictures, qps=qps) == expected
    group = cu264.StreamGroup()
    camera = group.open(25, preset="fast", qp=30)
    for picture, qp in zip(pictures, qps):
        camera.submit(picture, qp=qp)
    camera.flush()
    assert [camera.receive().qp for _ in qps] == [20, 30, 40, 51]
    for text, kind, call in [
        ("4 frames, but 1", ValueError, lambda: cu264.encode(pictures, 25, qps=[20])),
        ("0 to 51|0..51", ValueError, lambda: cu264.encode(pictures, 25, qps=[52] * 4)),
        ("whole number", TypeError, lambda: cu264.encode(pictures, 25, qps=[20.5] * 4)),
        ("one array", TypeError, lambda: cu264.write_video(io.BytesIO(), list(pictures), 25, qps=qps)),
    ]:
        with pytest.raises(kind, match=text):
            call()


def test_reconfigure(noisy):
    encoder = cu264.Encoder(25, preset="fast", bitrate=300_000)
    before = encoder.send(noisy) + encoder.flush()
    encoder.reconfigure(bitrate=600_000)
    after = encoder.send(noisy) + encoder.flush()
    assert [p.size for p in before] == sizes(noisy, bitrate=300_000)
    assert [p.size for p in after] == sizes(noisy, bitrate=600_000)
    with pytest.raises(ValueError, match="0 to 51"):
        encoder.reconfigure(crf=60)
    with pytest.raises(TypeError, match="cbr= cannot change"):
        encoder.reconfigure(cbr=True)


def test_a_clip_after_one_that_was_left(mixed):
    encoder = cu264.Encoder(25, preset="fast", max_frame_bytes=150, on_overflow="drop")
    expected = [packet.size for packet in encoder.packets(mixed)]
    encoder.send(mixed)
    encoder._session.end_clip()  # and its packets are not asked for
    packets = encoder.send(mixed)
    assert encoder._session.encoder.waiting <= 50
    packets += encoder.flush()
    assert [packet.size for packet in packets][-len(expected):] == expected
    assert encoder.dropped == 50 - len(expected) and encoder._session.encoder.waiting == 0


def test_key_pictures_on_request(noisy):
    """Every way to write frames takes keys; groups take one picture and its key."""
    pictures, keys = noisy[:6], [False, False, True, False, True, True]
    settings = {"qp": 30, "gop": 0, "preset": "fast", "backend": "cpu"}
    found = [True, False, True, False, True, True]
    encoder = cu264.Encoder(25, **settings)
    packets = encoder.send(pictures, keys=keys) + encoder.flush()
    assert [packet.keyframe for packet in packets] == found
    expected = b"".join(packet.data for packet in packets)
    assert [packet.keyframe for packet in cu264.Encoder(25, **settings).packets(pictures)] == [True] + 5 * [False]
    out = io.BytesIO()
    with cu264.VideoWriter(out, 25, container="h264", **settings) as video:
        video.write(list(pictures[:3]), keys=keys[:3])
        video.write(pictures[3:], keys=keys[3:])
    stream = cu264.StreamEncoder(25, container="h264", **settings)
    chunks = [stream.encode(pictures[i:i + 2], keys=keys[i:i + 2]) for i in (0, 2, 4)] + [stream.close()]
    assert out.getvalue() == b"".join(chunks)
    group = cu264.StreamGroup(backend="cpu", queue=len(keys))
    camera = group.open(25, qp=30, gop=0, preset="fast")
    for picture, key in zip(pictures, keys):
        camera.submit(picture, key=key)
    camera.flush()
    received = [camera.receive() for _ in keys]
    assert [packet.keyframe for packet in received] == found
    assert b"".join(packet.data for packet in received) == expected
    another = cu264.StreamEncoder(25, **settings)
    for call in (lambda: encoder.send(pictures, keys=[True]), lambda: another.encode(pictures, keys=[True])):
        with pytest.raises(ValueError, match="6 frames, but 1 values of keys"):
            call()
