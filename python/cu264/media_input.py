"""Opens media through PyAV: the one place that does, because what a file says of itself may be hostile."""

from __future__ import annotations

import io
import os
from typing import Any, Optional, Tuple, Union

from .audio import import_av

#: The demuxers that open files, addresses or devices which their content names, as in io/input_formats.cpp.
NAME_OTHER_FILES = frozenset(
    (
        "hls applehttp dash webm_dash_manifest imf concat image2 sdp rtsp rtp sap mlv vobsub avisynth vapoursynth "
        "lavfi dvdvideo"
    ).split()
)
_NO_PROTOCOL = "none"  # the bytes come from Python, so that libavformat needs none

MediaSource = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, Any]


def allowed_formats() -> str:
    """All demuxers of PyAV's FFmpeg but those, for `AVFormatContext.format_whitelist`."""
    names = import_av("reading media").formats_available
    return ",".join(sorted(name for name in names if NAME_OTHER_FILES.isdisjoint(name.split(","))))


def _open_nothing_else(url: str, flags: int, options: Any) -> Any:
    """Is the `io_open` of an input that is one file."""
    raise PermissionError(f"the file names another one, {url!r}, which is not opened")


def as_file(source: MediaSource) -> Tuple[Any, bool]:
    """A file object of a path, of bytes or of a file object, and whether the caller has to close it."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return io.BytesIO(source), True
    if hasattr(source, "read"):
        return source, False
    return open(os.fspath(source), "rb"), True


def open_media(file: Any, *, format: Optional[str] = None, buffer_size: int = 1 << 16) -> Any:
    """Opens a file object as a container of PyAV that reads nothing else.

    Playlists, manifests, image sequences, session descriptions and whatever else names the files and addresses that are
    read next are refused with ValueError.
    """
    av = import_av("reading media")
    limits = {"format_whitelist": allowed_formats(), "protocol_whitelist": _NO_PROTOCOL}
    try:
        return av.open(
            file, format=format, container_options=limits, buffer_size=buffer_size, io_open=_open_nothing_else
        )
    except (av.error.ArgumentError, av.error.InvalidDataError) as error:  # also of a format that is not allowed
        remedy = "it must be one media file: what names other files or addresses, such as a playlist, is refused"
        raise type(error)(error.errno, f"cannot open: {error.strerror} ({remedy})", _name_of(file)) from None
    except PermissionError as error:
        raise ValueError(f"{_name_of(file)}: cannot open: {error}") from error


def _name_of(file: Any) -> str:
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else "the clip"
