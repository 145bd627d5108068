"""One clip in, one clip out."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Tuple

from ..settings import FrameRate
from ..video_writer import VideoWriter
from .clip_decoder import ClipDecoder, Source

# These arguments of `VideoWriter` follow from the clip itself.
_OF_THE_CLIP = ("fps", "layout", "pixel_format", "time_base", "value_range")


def check_clip_settings(settings: Mapping[str, Any]) -> None:
    for name in _OF_THE_CLIP:
        if name in settings:
            raise TypeError(f"{name}= is for frames; clips say it themselves")


@dataclass(frozen=True)
class CodedClip:
    """A coded clip.

    Attributes
    ----------
    data : bytes
        The file.
    frames : int
    backend : str
        "cuda" or "cpu".
    audio : str
        "copied", "none", or "left out" and why.
    """

    data: bytes
    frames: int
    backend: str
    audio: str


def transcode_clip(
    source: Source,
    *,
    span: Optional[Tuple[float, float]] = None,
    container: str = "mp4",
    keep_audio: bool = True,
    threads: int = 1,
    **settings: Any,
) -> CodedClip:
    """Decodes a clip with PyAV and encodes it.

    Time stamps, tags of colour, the shape of samples and AAC or Opus audio are kept, pictures are turned as the file
    says.

    Parameters
    ----------
    source : str, os.PathLike, bytes or a file object that can seek
    span : (float, float), optional
        The part to take, in seconds.
    container : {"mp4", "fmp4", "h264"}, default "mp4"
    keep_audio : bool, default True
    threads : int, default 1
        Threads that decode; and encode, on the processor.
    **settings
        As for `cu264.VideoWriter`, but what the clip says: pixel format, layout, range, time base.

    Raises
    ------
    ValueError
        The clip has no video, or its pictures change their size.
    """
    check_clip_settings(settings)
    file = io.BytesIO()
    count = 0
    with ClipDecoder(source, span, threads, keep_audio and container != "h264") as clip:
        chosen = {"threads": threads, **clip.settings, **settings}
        with VideoWriter(file, clip.fps, container=container, audio=clip.audio, **chosen) as video:
            for pictures, stamps in clip.chunks():
                video.write(pictures, stamps)
                count += len(stamps)
            backend = video._session.encoder.backend
    return CodedClip(file.getvalue(), count, backend, clip.audio_state)


def encode_frames(
    frames: Any, fps: FrameRate, *, container: str = "mp4", threads: int = 1, **settings: Any
) -> CodedClip:
    """Encodes an array of pictures; see `cu264.encode`."""
    file = io.BytesIO()
    with VideoWriter(file, fps, container=container, **{"threads": threads, **settings}) as video:
        video.write(frames)
        backend = video._session.encoder.backend
    return CodedClip(file.getvalue(), len(frames), backend, "none")
