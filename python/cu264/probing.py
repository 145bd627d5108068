"""Finds out what works on this machine: probe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from . import _core
from .settings import make_settings, stream_format


@dataclass(frozen=True)
class Probe:
    """The result of `probe`.

    Attributes
    ----------
    backend : str
        "cuda" or "cpu": what calls without `backend=` use.
    detail : str
        The GPU's name, or why the CPU is used.
    cuda_problem : str or None
        Why the CUDA backend does not work; None if it does.
    """

    backend: str
    detail: str
    cuda_problem: Optional[str]


def _code_a_picture(backend: str, device: int) -> _core.EncoderSession:
    picture = bytes(range(64)) * 6  # 16 x 24 bytes: a picture of 16 x 16 in i420
    frames = _core.FrameArray(memoryview(picture).cast("B", (24, 16)), "HW", "i420", False)
    settings = make_settings(25, backend=backend)
    encoder = _core.EncoderSession(stream_format(settings, 16, 16, "i420", device if backend == "cuda" else None))
    encoder.send(frames, [0])
    encoder.flush()
    packets = encoder.take()
    if len(packets) != 1 or not packets[0].size:
        raise RuntimeError("the encoder gave no picture")
    return encoder


def probe(device: int = 0) -> Probe:
    """Codes a picture and says which backend works here.

    Parameters
    ----------
    device : int, default 0
        The CUDA device to try.

    Returns
    -------
    Probe

    Examples
    --------
    >>> cu264.probe().backend
    'cuda'
    """
    try:
        encoder = _code_a_picture("cuda", device)
        return Probe("cuda", encoder.backend_reason, None)
    except (RuntimeError, MemoryError, ValueError) as error:
        problem = str(error)
    _code_a_picture("cpu", device)
    return Probe("cpu", problem, problem)
