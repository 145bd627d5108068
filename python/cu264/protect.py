"""Encryption, watermarks and hidden data in H.264 streams; docs/protection.md says what they do not protect.

    key = cu264.protect.Key.random()
    data = cu264.encode(frames, 25, encryption=cu264.protect.Encryption(key, "signs,modes"))
    sealed = cu264.protect.encrypt(stream, key)  # finished streams, of any encoder
    stream = cu264.protect.decrypt(sealed, key)

Streams are bare H.264 (`container="h264"`): progressive, all-intra, 4:2:0 or monochrome. Finished streams may have CABAC where
signs and suffixes alone are encrypted; all else needs CAVLC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Sequence, Tuple, Union

from . import _core
from ._core import Key
from .settings import switch

__all__ = [
    "Encryption",
    "Key",
    "Watermark",
    "decrypt",
    "embed_watermark",
    "encrypt",
    "extract_watermark",
    "hide",
    "read_hidden",
    "watermark_room",
]

Parts = Union[str, Sequence[str]]


def _part_names(parts: Parts) -> List[str]:
    return [name.strip() for name in parts.split(",")] if isinstance(parts, str) else list(parts)


def _bytes(data: Any) -> bytes:
    return data if isinstance(data, bytes) else bytes(memoryview(data))


def _check_key(key: Any) -> Key:
    if not isinstance(key, Key):
        raise TypeError(f"key must be a cu264.protect.Key, not {type(key).__name__}")
    return key


@dataclass(frozen=True)
class Encryption:
    """Encryption while encoding: the setting `encryption=` of every call that encodes.

    Parameters
    ----------
    key : Key
    parts : str or sequence of str, default "signs"
        What is encrypted: "signs", "modes" and "codewords". No part changes the size of the stream.
    """

    key: Key
    parts: Parts = "signs"

    def apply(self, stream: _core.StreamFormat) -> None:
        stream.encrypt(_check_key(self.key), _part_names(self.parts))


@dataclass(frozen=True)
class Watermark:
    """A watermark that is embedded while encoding: the setting `watermark=` of every call that encodes.

    It goes into the levels before they are reconstructed, so nothing drifts. `extract_watermark` reads it.

    Parameters
    ----------
    key : Key
    payload : bytes
        Repeated all over the video.
    scheme : {"t1-sign", "t1-parity"}, default "t1-sign"
    density : int, default 4096
        How many of 65536 blocks that could carry a bit do.
    spread : {"coded", "drawn"}, default "coded"
        coded: an erasure code, which needs the fewest blocks. drawn: each block carries a bit drawn at random.
    """

    key: Key
    payload: bytes
    scheme: str = "t1-sign"
    density: int = 4096
    spread: str = "coded"

    def apply(self, stream: _core.StreamFormat) -> None:
        stream.mark(_check_key(self.key), _bytes(self.payload), self.scheme, self.density, self.spread)


def _run(tool: _core.StreamTool, stream: Any, threads: int) -> Tuple[bytes, bytes]:
    """Returns what replaces a whole stream, and the payload that was read."""
    tool.set_threads(threads)
    units = tool.access_units(_bytes(stream))
    units += tool.last_units()
    return units, tool.finish()


def encrypt(stream: Any, key: Key, parts: Parts = "signs", *, authenticate: bool = False, threads: int = 1) -> bytes:
    """Encrypts a stream that is finished, under a random nonce.

    Parameters
    ----------
    stream : bytes-like
        A bare H.264 stream.
    key : Key
    parts : str or sequence of str, default "signs"
        As for `Encryption`; of streams with CABAC "signs" and "suffixes".
    authenticate : bool, default False
        Puts an HMAC beside each picture, which is checked when decrypting.
    threads : int, default 1
        0: one a core.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        The stream is damaged, or of another kind; the message names what was found.
    """
    return _run(_core.encryptor(_check_key(key), _part_names(parts), switch("authenticate", authenticate)), stream, threads)[0]


def decrypt(stream: Any, key: Key, *, require_authentication: bool = False, threads: int = 1) -> bytes:
    """Restores the stream that was encrypted.

    Parameters
    ----------
    stream : bytes-like
    key : Key
    require_authentication : bool, default False
        A stream that is not authenticated is refused: without this whoever can change streams may replace an
        authenticated one by one that is not.
    threads : int, default 1
        0: one a core.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        A wrong key, a stream that is not encrypted, or one that was changed although it is authenticated.
    """
    return _run(_core.decryptor(_check_key(key), switch("require_authentication", require_authentication)), stream, threads)[0]


def embed_watermark(
    stream: Any, key: Key, payload: Any, *, scheme: str = "t1-sign", density: int = 65536, threads: int = 1
) -> bytes:
    """Marks a stream that is finished, only in blocks from which no other block is predicted.

    Parameters
    ----------
    stream : bytes-like
    key : Key
    payload : bytes-like
        Repeated to fill the stream. `watermark_room` tells how much fits.
    scheme, density
        As for `Watermark`.
    threads : int, default 1

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        The stream is too short for the payload, or of another kind.
    """
    return _run(_core.watermark_embedder(_check_key(key), scheme, density, _bytes(payload)), stream, threads)[0]


def extract_watermark(stream: Any, key: Key, *, threads: int = 1) -> bytes:
    """Reads the payload of a watermark, from `embed_watermark` or from an encoder.

    Parameters
    ----------
    stream : bytes-like
        A bare H.264 stream.
    key : Key
    threads : int, default 1
        0: one a core.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        There is no watermark of this key.
    """
    return _run(_core.watermark_extractor(_check_key(key)), stream, threads)[1]


def watermark_room(
    stream: Any, *, scheme: str = "t1-sign", density: int = 65536, spread: str = "coded", threads: int = 1
) -> Tuple[int, int]:
    """Finds how much room for a watermark's payload a stream has.

    Parameters
    ----------
    stream : bytes-like
        A bare H.264 stream.
    scheme, density, spread
        As for `Watermark`.
    threads : int, default 1
        0: one a core.

    Returns
    -------
    int, int
        Bytes with `embed_watermark`, and, about, in an encoder of such a video.

    Raises
    ------
    ValueError
        The stream is damaged, or of another kind.
    """
    meter = _core.watermark_meter(scheme)
    _run(meter, stream, threads)
    return _core.watermark_rooms(meter, density, spread)


def hide(stream: Any, key: Key, payload: Any, *, threads: int = 1) -> bytes:
    """Hides data in level suffixes, without changing the stream's size, also of streams that are encrypted.

    Parameters
    ----------
    stream : bytes-like
        A bare H.264 stream.
    key : Key
    payload : bytes-like
    threads : int, default 1
        0: one a core.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        The payload does not fit, or the stream is of another kind.
    """
    return _run(_core.hider(_check_key(key), _bytes(payload)), stream, threads)[0]


def read_hidden(stream: Any, key: Key, *, threads: int = 1) -> bytes:
    """Reads what `hide` has put there, before or after decryption.

    Parameters
    ----------
    stream : bytes-like
        A bare H.264 stream.
    key : Key
    threads : int, default 1
        0: one a core.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        There is nothing hidden with this key.
    """
    return _run(_core.hidden_reader(_check_key(key)), stream, threads)[1]
