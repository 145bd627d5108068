"""StreamGroup: threads, back pressure, clips, and packets of all streams in one place."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cu264
from conftest import moving_pictures


def alone(frames, fps=25, **settings):
    return b"".join(packet.data for packet in cu264.Encoder(fps, **settings).packets(frames))


def test_streams_have_the_bytes_of_encoders(clip):
    clips = [np.roll(clip, 3 * i, axis=2) for i in range(6)] + [moving_pictures(9, 40, 30)]
    settings = [{"qp": 24 + i} for i in range(6)] + [{"preset": "fast"}]
    group = cu264.StreamGroup()
    streams = [group.open(25, **each) for each in settings]
    found = {stream: [] for stream in streams}

    def camera(i):
        return all(streams[i].submit(picture) for picture in clips[i])

    with ThreadPoolExecutor(len(clips)) as pool:
        cameras = [pool.submit(camera, i) for i in range(len(clips))]
        for _ in range(9 * len(clips)):
            stream, packet, error = group.receive_any(timeout=60)
            assert error is None
            found[stream].append(packet)
        assert all(each.result() for each in cameras)
    for frames, each, stream in zip(clips, settings, streams):
        assert [packet.pts for packet in found[stream]] == list(range(9))
        assert b"".join(packet.data for packet in found[stream]) == alone(frames, **each)
        assert alone(frames, **each).startswith(stream.extradata[:20])
    assert streams[0].backend in ("cpu", "cuda")


def test_back_pressure(clip):
    group = cu264.StreamGroup(queue=2)
    stream = group.open(25)
    assert stream.receive() is None  # nothing is on its way
    assert stream.submit(clip[0]) and stream.submit(clip[1])
    begin = time.monotonic()
    assert not stream.submit(clip[2], timeout=0)
    assert not stream.submit(clip[2], timeout=0.25)
    assert 0.2 < time.monotonic() - begin < 20
    waiting = threading.Thread(target=stream.submit, args=(clip[2],))
    waiting.start()
    packets = [stream.receive()]
    waiting.join()
    packets += [stream.receive(60), stream.receive(60)]
    assert [packet.pts for packet in packets] == [0, 1, 2]
    assert b"".join(packet.data for packet in packets) == alone(clip[:3])
    assert stream.receive(60) is None
    assert group.receive_any(timeout=0.01) is None


def test_clips_and_closing(clip):
    group = cu264.StreamGroup()
    with group.open(25) as stream:
        for frames in (clip[:2], clip[2:4]):
            for picture in frames:
                stream.submit(picture)
            stream.flush()
            assert b"".join(stream.receive(60).data for _ in range(2)) == alone(frames)
        stream.submit(clip[0])
    assert group.receive_any(timeout=0.05) is None  # closing drops what was not received
    for call in (lambda: stream.submit(clip[0]), stream.receive, stream.flush, lambda: stream.extradata):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_async_for(clip):
    async def main():
        group = cu264.StreamGroup()
        streams = [group.open(25, qp=20 + i) for i in range(3)]
        found = {stream: b"" for stream in streams}

        async def cameras():
            for picture in clip:
                for stream in streams:
                    while not stream.submit(picture, timeout=0):
                        await asyncio.sleep(0.001)

        submitting = asyncio.create_task(cameras())
        left = len(streams) * len(clip)
        async for stream, packet, _ in group:
            found[stream] += packet.data
            left -= 1
            if left == 0:
                break
        await submitting
        return list(found.values())

    assert asyncio.run(main()) == [alone(clip, qp=20 + i) for i in range(3)]


def test_bad_input(clip):
    group = cu264.StreamGroup()
    stream = group.open(25)
    with pytest.raises(ValueError, match="no stream yet"):
        stream.extradata
    with pytest.raises(ValueError, match="one picture, not 9"):
        stream.submit(clip)
    stream.submit(clip[0], pts=5)
    with pytest.raises(ValueError, match="pts must increase"):
        stream.submit(clip[0], pts=5)
    with pytest.raises(ValueError, match="another size"):
        stream.submit(clip[0, :32])
    with pytest.raises(TypeError, match="setting of the group"):
        group.open(25, threads=2)
    with pytest.raises(ValueError, match="1 to 1024"):
        cu264.StreamGroup(queue=0)
    with pytest.raises(ValueError, match="0 to 51"):
        group.open(25, qp=99)


def test_a_wait_is_interrupted_by_signals():
    import signal

    class Alarm(Exception):
        pass

    def ring(*_):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Alarm):
            cu264.StreamGroup().receive_any()
    finally:
        signal.signal(signal.SIGALRM, before)
