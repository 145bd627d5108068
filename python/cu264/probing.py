"""Finds out what works on this machine: probe."""

from __future__ import annotations

import platform
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
    frames = _core.FrameArray(memoryview(picture).cast("B", (24, 16)), "HW", "i420")
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

    Raises
    ------
    RuntimeError
        Not even the CPU backend works.

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


@dataclass(frozen=True)
class Info:
    """The result of `info`; as text it is what a report of a fault should have.

    Attributes
    ----------
    version : str
        Of cu264.
    cuda : bool
        Whether this build has the CUDA backend.
    python, system : str
        Versions of Python, and of the operating system and its processor.
    numpy, av : str or None
        Versions of NumPy and PyAV; None: not installed.
    probe : Probe
        Which backend works here.
    build : str
        Of what cu264 was built: its version, the commit if that is known, CUDA with the architectures of GPUs,
        the compiler.
    """

    version: str
    cuda: bool
    python: str
    system: str
    numpy: Optional[str]
    av: Optional[str]
    probe: Probe
    build: str

    def __str__(self) -> str:
        return "\n".join(
            (
                self.build.replace("cu264 ", "cu264   ", 1),
                f"backend {self.probe.backend}: {self.probe.detail}",
                f"Python  {self.python}, {self.system}",
                f"NumPy   {self.numpy or 'not installed'}",
                f"PyAV    {self.av or 'not installed'}",
            )
        )


def _version_of(package: str) -> Optional[str]:
    from importlib import metadata  # here, because it is seldom wanted

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def info() -> Info:
    """Says what is installed, and codes a picture to see what works.

    Returns
    -------
    Info

    Raises
    ------
    RuntimeError
        Not even the CPU backend works.

    Examples
    --------
    >>> print(cu264.info())
    """
    return Info(
        version=_core.version(),
        cuda=_core.with_cuda,
        python=platform.python_version(),
        system=platform.platform(),
        numpy=_version_of("numpy"),
        av=_version_of("av"),
        probe=probe(),
        build=_core.build_info(),
    )
