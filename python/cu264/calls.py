"""Whole videos in one call: write_video and encode."""

from __future__ import annotations

import os
from typing import Any, Iterable, Optional, Sequence, Union

from .audio import Audio
from .session import Session
from .settings import FrameRate, documented, make_settings
from .video_writer import CONTAINERS, Destination, VideoWriter


def _is_array(frames: Any) -> bool:
    return any(hasattr(frames, name) for name in ("__dlpack__", "__cuda_array_interface__", "__array_interface__"))


@documented
def write_video(
    path_or_file: Union[str, "os.PathLike[str]", Any],
    frames: Union[Any, Iterable[Any]],
    fps: FrameRate,
    *,
    container: Optional[str] = None,
    audio: Optional[Audio] = None,
    qps: Optional[Sequence[Optional[int]]] = None,
    **settings: Any,
) -> None:
    """Writes a video to a file.

    Parameters
    ----------
    path_or_file : str, os.PathLike or object with write()
        As for `VideoWriter`.
    frames : array, or iterable of arrays
        An array of pictures, such as (T, H, W, 3) or (T, 3, H, W), of uint8, float16, bfloat16 or float32; or an
        iterable of such arrays or of single pictures. Host memory or a CUDA device.
    fps : int, float, Fraction, str or (int, int)
        Pictures a second.
    container, audio
        As for `VideoWriter`.
    qps
        As for `VideoWriter.write`, where `frames` is one array.
    SETTINGS

    Raises
    ------
    TypeError, ValueError, OSError
        As `VideoWriter.write`. There is no file then.

    Examples
    --------
    >>> cu264.write_video("clip.mp4", frames, fps=24, qp=24)
    """
    if qps is not None and not _is_array(frames):
        raise TypeError("qps= goes with one array of frames: VideoWriter.write takes those of a chunk")
    with VideoWriter(path_or_file, fps, container=container, audio=audio, **settings) as video:
        if _is_array(frames):
            array = video._session.import_frames(frames)
            video._send(array, expected=len(array), qps=qps)
        else:
            for chunk in frames:
                video.write(chunk)


@documented
def encode(
    frames: Any,
    fps: FrameRate,
    *,
    container: str = "mp4",
    audio: Optional[Audio] = None,
    qps: Optional[Sequence[Optional[int]]] = None,
    **settings: Any,
) -> bytes:
    """Encodes an array of pictures to a file in memory.

    Parameters
    ----------
    frames : array
        Pictures, such as (T, H, W, 3) or (T, 3, H, W), of uint8, float16, bfloat16 or float32; in host memory or on a
        CUDA device, where they are read in place.
    fps : int, float, Fraction, str or (int, int)
        Pictures a second.
    container : {"mp4", "fmp4", "h264", "mkv", "ts"}, default "mp4"
        h264 is the bare stream, in Annex B form, with parameter sets before every picture. mkv and ts need PyAV.
    audio : Audio, optional
        A track of AAC or Opus; `Audio.encode` makes one of samples.
    qps
        As for `VideoWriter.write`.
    SETTINGS

    Returns
    -------
    bytes

    Raises
    ------
    TypeError, ValueError
        As `VideoWriter.write`.

    Examples
    --------
    >>> data = cu264.encode(frames, fps=24)
    """
    if container not in CONTAINERS:
        raise ValueError(f"container must be one of {', '.join(CONTAINERS)}, not {container!r}")
    made = make_settings(fps, **settings).for_container(container)
    destination = Destination(None, container, made, audio)
    session = Session(made, destination.open)
    array = session.import_frames(frames)
    if len(array) == 0:
        raise ValueError("there are no frames to encode")
    session.send(array, expected=len(array), qps=qps)
    destination.write(session.flush())
    destination.finish()
    return destination.take()
