"""Many threads on each class at once, for test_threads.py; `python thread_stress.py 2000` is the long run.

Every object is used by several threads in every way, is closed while others write, is dropped while the garbage is
collected, and is left to the end of the interpreter. What comes out whole must be right.
"""

from __future__ import annotations

import gc
import io
import os
import random
import sys
import tempfile
import threading
import time

import numpy as np

import cu264
from cu264 import protect, vle
from cu264.compat import CreateEncoder, FragmentedMP4VideoEncoder
from cu264.compat import Encoder as TorchEncoder
from cu264.compat import VideoEncoder

HEIGHT, WIDTH = 32, 48
FRAMES = np.random.default_rng(3).integers(0, 256, (4, HEIGHT, WIDTH, 3), dtype=np.uint8)
GRAY = np.random.default_rng(4).integers(0, 256, (8, 40, 56), dtype=np.uint8)
SOUND = (np.random.default_rng(5).random((2, 4000), dtype=np.float32) - 0.5, 8000)
SETTINGS = {"preset": "fast", "qp": 40, "backend": "cpu"}
#: What a thread may be told that comes after another one has closed the object, or in the middle of another's clip.
EXPECTED = ("closed", "close()", "another clip", "flush() ends", "no frames", "no stream yet", "at least one frame", "begin", "open_file")


def at_once(*actions):
    """Runs all actions on threads of their own that begin together; returns the results, and raises what is no answer."""
    barrier = threading.Barrier(len(actions))
    results, problems = [None] * len(actions), []

    def run(i, action):
        barrier.wait()
        try:
            results[i] = action()
        except (ValueError, RuntimeError) as error:
            if not any(text in str(error) for text in EXPECTED):
                problems.append(error)
        except BaseException as error:  # noqa: BLE001 - reported by the main thread
            problems.append(error)

    threads = [threading.Thread(target=run, args=item) for item in enumerate(actions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    if problems:
        raise problems[0]
    return results


def encoder():
    made = cu264.Encoder(25, threads=2, **SETTINGS)
    results = at_once(*[lambda: [p for _ in range(3) for p in made.send(FRAMES)] for _ in range(3)],
                      lambda: made.reconfigure(qp=30), lambda: made.dropped)
    packets = [packet for some in results[:3] for packet in some] + made.flush()
    assert sorted(packet.index for packet in packets) == list(range(36))


def encoder_clips():
    made = cu264.Encoder(25, **SETTINGS)

    def loop():
        for _ in made.packets(FRAMES):
            if random.random() < 0.3:
                break

    shared = made.packets(FRAMES)
    at_once(loop, loop, lambda: list(shared), lambda: list(shared), made.flush, lambda: made.send(FRAMES))
    made.flush()
    assert len(list(made.packets(FRAMES))) == len(FRAMES)


def writer(container):
    with tempfile.TemporaryDirectory() as folder:
        for target in (os.path.join(folder, "clip"), io.BytesIO()):
            sound = SOUND if container in ("mp4", "mkv", "ts") and random.random() < 0.5 else None
            made = cu264.VideoWriter(target, 25, container=container, audio=sound, **SETTINGS)

            def write(made=made):
                for _ in range(3):
                    made.write(FRAMES)

            ends = random.choice([(made.close, made.close), (made.discard, made.close), (made.discard,)])
            at_once(write, write, *ends, lambda made=made: made.dropped)
            made.discard()
        assert os.listdir(folder) in ([], ["clip"])


def writer_dropped():
    with tempfile.TemporaryDirectory() as folder:
        def use():
            for _ in range(3):
                made = cu264.VideoWriter(os.path.join(folder, "clip.mp4"), 25, **SETTINGS)
                made.write(FRAMES)
                made.itself = made  # garbage that only the collector finds
                del made

        at_once(use, use, *[lambda: [gc.collect() for _ in range(5)]] * 2)
        gc.collect()
        assert os.listdir(folder) == []


def stream_encoder():
    made = cu264.StreamEncoder(25, **SETTINGS)
    pieces = []
    lock = threading.Lock()

    def encode():
        for _ in range(3):
            piece = made.encode(FRAMES)
            with lock:
                pieces.append(piece)

    at_once(encode, encode, encode, lambda: made.mime_type)
    assert sum(piece.count(b"moof") for piece in pieces) == 9
    at_once(encode, made.close, made.close)


def detector():
    made = cu264.edges.Detector(backend="cpu")
    pictures = [GRAY[:3], GRAY[3:], GRAY[0], np.ascontiguousarray(GRAY[:, :24])]
    expected = [cu264.edges.detect(each, backend="cpu") for each in pictures]
    results = at_once(*[lambda each=each: [made.detect(each) for _ in range(4)] for each in pictures * 2])
    for maps, right in zip(results, expected * 2):
        assert all(np.array_equal(each, right) for each in maps)


def group():
    made = cu264.StreamGroup(backend="cpu", queue=2)
    streams = [made.open(25, preset="fast", qp=40) for _ in range(3)]

    def feed(stream):
        for i in range(6):
            stream.submit(FRAMES[i % 4], timeout=2)
        stream.flush()

    def receive():
        for _ in range(12):
            made.receive_any(0.05)

    def read(stream):
        for _ in range(3):
            stream.receive(0.05)

    def end(stream):
        time.sleep(random.random() * 0.01)
        stream.close()

    at_once(*[lambda s=s: feed(s) for s in streams], receive, receive, lambda: read(streams[0]), lambda: end(streams[1]),
            lambda: end(streams[1]))
    if random.random() < 0.5:
        for stream in streams:
            stream.close()


def compat():
    nvenc = CreateEncoder(WIDTH, HEIGHT, "ABGR", True, constqp=40, preset="P1")
    rgba = np.concatenate([FRAMES, FRAMES[..., :1]], axis=-1)
    results = at_once(*[lambda: [d for f in rgba for d in nvenc.Encode(f)] for _ in range(3)])
    pictures = [each for some in results for each in some] + nvenc.EndEncode()
    assert sorted(each["timestamp"] for each in pictures) == list(range(12))
    vllm = FragmentedMP4VideoEncoder(fps=25, qp=40, preset="fast")
    at_once(lambda: vllm.encode(FRAMES), lambda: vllm.encode(FRAMES), vllm.close, vllm.close)
    torch = TorchEncoder()
    video = torch.add_video(height=HEIGHT, width=WIDTH, frame_rate=25, extra_options={"qp": 40})
    audio = torch.add_audio(sample_rate=SOUND[1], num_channels=2)
    file = io.BytesIO()
    torch.open_file_like(file, format=random.choice(("mp4", "mkv", "ts")))
    planes = np.ascontiguousarray(FRAMES.transpose(0, 3, 1, 2))
    at_once(lambda: video.add_frames(planes), lambda: video.add_frames(planes), lambda: audio.add_samples(SOUND[0]),
            torch.close, torch.close)
    whole = VideoEncoder(planes, frame_rate=25)
    files = [io.BytesIO() for _ in range(3)]
    at_once(*[lambda file=file: whole.to_file_like(file, "ts", extra_options={"qp": 40}) for file in files])
    assert len({file.getvalue() for file in files}) == 1


def others():
    key = protect.Key.random()
    stream = cu264.encode(FRAMES, 25, container="h264", profile="baseline", **SETTINGS)
    sealed = at_once(*[lambda: protect.encrypt(stream, key, authenticate=True) for _ in range(3)])
    assert at_once(*[lambda each=each: protect.decrypt(each, key) for each in sealed]) == [stream] * 3
    table = vle.CodeTable(vle.histogram(stream))
    coded = at_once(*[lambda: table.encode(stream) for _ in range(3)], lambda: vle.expand(vle.compress(stream)))
    assert coded[3] == stream and coded[0] == coded[1] == coded[2]


STRESSES = [encoder, encoder_clips, writer_dropped, stream_encoder, detector, group, compat, others,
            *[lambda container=container: writer(container) for container in ("mp4", "fmp4", "h264", "mkv", "ts")]]


def main(runs):
    begin = time.monotonic()
    for run in range(runs):
        for stress in STRESSES:
            stress()
        if sys.stdout.isatty() or run % 50 == 49:
            print(f"{run + 1} runs, {time.monotonic() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
