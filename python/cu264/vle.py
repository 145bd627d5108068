"""Huffman coding of bytes: a container for files and pipes, and codes by themselves.

    packed = cu264.vle.compress(data)
    data = cu264.vle.expand(packed)
"""

from __future__ import annotations

from typing import Any, List, Tuple

from . import _core
from ._core import CodeTable

__all__ = ["CodeTable", "compress", "compress_file", "expand", "expand_file", "histogram"]


def _bytes(data: Any) -> bytes:
    return data if isinstance(data, bytes) else bytes(memoryview(data))


def compress(data: Any, *, backend: str = "auto", device: int = 0, threads: int = 0) -> bytes:
    """Puts bytes into a container with checksums (docs/vle-format.md), as `cu264 vle compress` does.

    Parameters
    ----------
    data : bytes-like
    backend : {"auto", "cuda", "cpu"}, default "auto"
        Where the codes are written. Both give the same bytes.
    device : int, default 0
        The CUDA device.
    threads : int, default 0
        0: one a core.

    Returns
    -------
    bytes

    Raises
    ------
    TypeError, ValueError
        No bytes, or a backend that is not there.
    """
    return _core.vle_compress(_bytes(data), backend, device, threads)


def expand(data: Any, *, backend: str = "auto", device: int = 0, threads: int = 0) -> bytes:
    """Restores the bytes that `compress` was given.

    Parameters
    ----------
    data : bytes-like
    backend, device, threads
        As for `compress`.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        Anything else than a whole, undamaged container.
    """
    return _core.vle_expand(_bytes(data), backend, device, threads)


def compress_file(
    source: Any, target: Any, *, backend: str = "auto", device: int = 0, threads: int = 0
) -> Tuple[int, int]:
    """Compresses a file or pipe of any length in bounded memory.

    Parameters
    ----------
    source : object with read(size) -> bytes
    target : object with write(bytes)
        Both are used on threads of the library's own, one at a time.
    backend, device, threads
        As for `compress`.

    Returns
    -------
    int, int
        The sizes of the original and of the container, in bytes.

    Raises
    ------
    TypeError, ValueError
        read() or write() does not do what it should. What they raise themselves comes through.
    """
    return _core.vle_compress_file(source, target, backend, device, threads)


def expand_file(
    source: Any, target: Any, *, backend: str = "auto", device: int = 0, threads: int = 0
) -> Tuple[int, int]:
    """Expands what `compress_file` wrote.

    Parameters
    ----------
    source, target, backend, device, threads
        As for `compress_file`.

    Returns
    -------
    int, int
        The sizes of the original and of the container, in bytes.

    Raises
    ------
    ValueError
        Anything else than a whole, undamaged container. What the target has got must not be used then.
    """
    return _core.vle_expand_file(source, target, backend, device, threads)


def histogram(data: Any) -> List[int]:
    """Counts each of the 256 values of a byte; `CodeTable(histogram(data))` is the best code for them.

    Parameters
    ----------
    data : bytes-like

    Returns
    -------
    list of int
        256 counts.
    """
    return list(_core.vle_histogram(_bytes(data)))
