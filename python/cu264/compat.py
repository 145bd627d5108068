"""Calls in the shape of other packages, for programs that have theirs already."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Optional, Sequence, Union

from .compat_names import DEFAULT_CRF
from .compat_nvenc import CreateEncoder, PyNvEncoder
from .compat_torchcodec import VideoEncoder
from .compat_vllm import FragmentedMP4VideoEncoder
from .settings import FrameRate
from .video_writer import VideoWriter

__all__ = ["CreateEncoder", "FragmentedMP4VideoEncoder", "PyNvEncoder", "VideoEncoder", "export_to_video"]


def export_to_video(
    video_frames: Sequence[Any],
    output_video_path: Optional[Union[str, "os.PathLike[str]"]] = None,
    fps: FrameRate = 10,
    quality: Optional[float] = 5.0,
    bitrate: Optional[int] = None,
    macro_block_size: Optional[int] = 16,
    **settings: Any,
) -> str:
    """Does what `diffusers.utils.export_to_video` does, with this package's encoder.

    Parameters
    ----------
    video_frames : sequence of arrays or of PIL images
        Pictures of shape (H, W, 3) in [0, 1], or uint8; also one array of all of them.
    output_video_path : str or os.PathLike, optional
        A temporary file without it.
    fps : number, default 10
    quality : float, default 5.0
        From 0 to 10 (best). It becomes the crf that it becomes there: 51 - 5.1 * quality, rounded down; None is 23,
        libx264's own. `qp=` and `crf=` replace it.
    bitrate : int, optional
        Bits a second, instead of a quality.
    macro_block_size : int
        Ignored: every size can be encoded, and pictures are never scaled.
    **settings
        As for `VideoWriter`.

    Returns
    -------
    str
        The file's path.
    """
    if bitrate is not None:
        settings["bitrate"] = bitrate
    elif "qp" not in settings and "crf" not in settings:
        if quality is not None and not 0 <= quality <= 10:
            raise ValueError(f"quality must be from 0 to 10, not {quality!r}")
        settings["crf"] = DEFAULT_CRF if quality is None else int((1 - quality / 10) * 51)
    if output_video_path is None:
        output_video_path = tempfile.NamedTemporaryFile(suffix=".mp4").name
    with VideoWriter(output_video_path, fps, **settings) as video:
        for frame in video_frames:
            video.write(_array_of(frame))
    return os.fspath(output_video_path)


def _array_of(frame: Any) -> Any:
    if hasattr(frame, "convert") and hasattr(frame, "tobytes") and hasattr(frame, "size"):  # a PIL image
        rgb = frame.convert("RGB")
        return memoryview(rgb.tobytes()).cast("B", (rgb.size[1], rgb.size[0], 3))
    if str(getattr(frame, "dtype", "")) == "float64":  # what arithmetic on Python's numbers makes of pictures
        return frame.astype("float32")
    return frame
