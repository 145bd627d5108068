"""A program as a user writes it, for type checkers in strict mode: test_types.py. It is also run."""

from __future__ import annotations

import asyncio
import io
import pathlib
from fractions import Fraction
from typing import Optional

import numpy as np
import numpy.typing as npt

import cu264
from cu264 import compat, edges, protect, vle

FRAMES: npt.NDArray[np.uint8] = np.zeros((4, 32, 48, 3), np.uint8)


def report(done: int, total: Optional[int]) -> None:
    print(done, total)


def files(folder: pathlib.Path) -> int:
    cu264.write_video(folder / "clip.mp4", FRAMES, fps=29.97, qp=24, preset="fast", progress=report)
    cu264.write_video(str(folder / "clip.h264"), [FRAMES, FRAMES], fps=(30000, 1001), crf=23.5)
    cu264.write_video(io.BytesIO(), (picture for picture in FRAMES), fps="25", container="fmp4")
    data: bytes = cu264.encode(FRAMES, Fraction(25), bitrate="1M", max_bitrate=2e6, matrix="bt709", transfer=1)
    with cu264.VideoWriter(folder / "other.mp4", 25, time_base="1/1000") as video:
        video.write(FRAMES, pts=[0, 40, 80, 200], qps=[20, None, 30, 31])
        dropped: int = video.dropped
    return len(data) + dropped


def packets() -> list[bytes]:
    encoder = cu264.Encoder(fps=30, qp=24, aq="off")
    found: list[cu264.Packet] = encoder.send(FRAMES) + encoder.flush()
    encoder.reconfigure(qp=30)
    data: list[bytes] = [packet.data for packet in encoder.packets(FRAMES)]
    times: list[int] = [packet.pts for packet in found]
    view: memoryview = memoryview(found[0])
    assert view.readonly
    return data[: len(times)]


async def in_a_loop() -> int:
    size = 0
    async for packet in cu264.Encoder(25).packets(FRAMES):
        size += packet.size
    return size


def streams() -> Optional[cu264.GroupResult]:
    group = cu264.StreamGroup(backend="cpu")
    camera: cu264.GroupStream = group.open(fps=30, qp=24)
    taken: bool = camera.submit(FRAMES[0], timeout=1.0)
    assert taken
    return group.receive_any(timeout=5.0)


def others() -> None:
    stream = cu264.StreamEncoder(24, lookahead=0)
    piece: bytes = stream.encode(FRAMES) + stream.close()
    key = protect.Key.random()
    sealed = protect.encrypt(cu264.encode(FRAMES, 25, container="h264", cavlc=True), key, authenticate=True)
    settings = protect.Encryption(key, "signs,modes")
    cu264.encode(FRAMES, 25, encryption=settings)
    room: tuple[int, int] = protect.watermark_room(protect.decrypt(sealed, key))
    maps = edges.detect(FRAMES[..., 0].copy(), noise_floor=8)
    packed: bytes = vle.compress(piece)
    version: str = cu264.__version__
    backend: str = cu264.probe().backend
    print(len(packed), room, maps, version, backend, cu264.info().cuda)


def of_other_packages(folder: pathlib.Path) -> str:
    return compat.export_to_video(list(FRAMES), folder / "shown.mp4", fps=8, quality=9.0)


def main(folder: pathlib.Path) -> None:
    print(files(folder), len(packets()), asyncio.run(in_a_loop()), streams(), of_other_packages(folder))
    others()
