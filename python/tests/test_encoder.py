"""Encoder: clips one after the other, settings that change, and event loops."""

import asyncio
import io

import numpy as np
import pytest

import cu264
from conftest import moving_pictures


def stream_of(packets):
    return b"".join(packet.data for packet in packets)


def one_clip(frames, **settings):
    return stream_of(cu264.Encoder(25, **settings).packets(frames))


def test_an_encoder_is_used_again(clip):
    small = moving_pictures(4, 34, 50)
    encoder = cu264.Encoder(25, qp=30)
    assert stream_of(encoder.packets(clip)) == one_clip(clip, qp=30)
    packets = encoder.send(small) + encoder.flush()
    assert stream_of(packets) == one_clip(small, qp=30)
    assert [packet.pts for packet in packets] == [0, 1, 2, 3]
    assert stream_of(encoder.packets(iter(clip))) == one_clip(clip, qp=30)
    with pytest.raises(ValueError, match="another layout"):
        encoder.send(small.astype(np.float32))


def test_a_packet_is_a_buffer(clip):
    packet, *others = cu264.Encoder(25).packets(clip)
    view = memoryview(packet)
    assert view.readonly and view.nbytes == packet.size and view == packet.data
    assert np.shares_memory(np.frombuffer(packet, np.uint8), np.frombuffer(view, np.uint8))
    with pytest.raises(TypeError):
        view[0] = 1
    data = packet.data
    del packet
    assert view == data  # it keeps its packet
    file = io.BytesIO()
    for each in others:
        file.write(each)
    assert file.getvalue() == stream_of(others)


def test_reconfigure(clip):
    encoder = cu264.Encoder(25, qp=30)
    encoder.reconfigure(qp=20)
    packets = encoder.send(clip[:3])
    encoder.reconfigure(qp=40)
    packets += encoder.send(clip[3:])
    with pytest.raises(ValueError, match="next clip|between clips|within a clip"):
        encoder.reconfigure(preset="fast", qp=10)
    packets += encoder.flush()
    assert [packet.qp for packet in packets] == [20] * 3 + [40] * 6
    encoder.reconfigure(preset="fast")
    assert stream_of(encoder.packets(clip)) == one_clip(clip, qp=40, preset="fast")
    for wrong, kind in (({"qp": 52}, ValueError), ({"qp": 1.5}, TypeError), ({"preset": "slow"}, ValueError),
                        ({"slices": 2}, TypeError)):
        with pytest.raises(kind):
            encoder.reconfigure(**wrong)
    assert stream_of(encoder.packets(clip)) == one_clip(clip, qp=40, preset="fast")


def test_async_for(clip):
    frames = np.concatenate([clip] * 8)
    expected = one_clip(frames, preset="best")

    async def chunks():
        for i in range(0, len(frames), 5):
            await asyncio.sleep(0)
            yield frames[i:i + 5]

    async def collect(source):
        encoder = cu264.Encoder(25, preset="best")
        packets = []
        async for packet in encoder.packets(source):
            packets.append(packet)
        assert [packet.pts for packet in packets] == list(range(len(frames)))
        return stream_of(packets)

    async def main():
        turns = 0

        async def count():
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        found = await asyncio.gather(collect(frames), collect(chunks()))
        counting.cancel()
        return found, turns

    found, turns = asyncio.run(main())
    assert found == [expected, expected]
    assert turns > 2  # the loop went round while pictures were encoded
    with pytest.raises(TypeError, match="async for"):
        next(cu264.Encoder(25).packets(chunks()))


def test_async_for_without_frames():
    async def collect():
        return [packet async for packet in cu264.Encoder(25).packets(iter([]))]

    assert asyncio.run(collect()) == []
