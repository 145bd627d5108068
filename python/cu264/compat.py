"""Calls in the shape of other packages, for programs that have theirs already."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, Union

from .arrays import Frames
from .compat_names import DEFAULT_CRF, packed
from .compat_nvenc import CreateEncoder, PyNvEncoder
from .compat_torchcodec import Encoder, VideoEncoder
from .compat_vllm import FragmentedMP4VideoEncoder
from .compat_vllm_chunks import ChunkedMP4Encoder
from .settings import FrameRate, ExportSettings
from .video_writer import VideoWriter

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "ChunkedMP4Encoder",
    "CreateEncoder",
    "Encoder",
    "FragmentedMP4VideoEncoder",
    "PyNvEncoder",
    "VideoEncoder",
    "export_to_video",
]


def export_to_video(
    video_frames: Union[Frames, Sequence[Any]],
    output_video_path: Optional[Union[str, "os.PathLike[str]"]] = None,
    fps: FrameRate = 10,
    quality: Optional[float] = 5.0,
    bitrate: Optional[Union[float, str]] = None,
    macro_block_size: Optional[int] = 16,
    **settings: Unpack[ExportSettings],
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
    bitrate : int or str, optional
        Bits a second, as 5_000_000 or "5M", instead of a quality.
    macro_block_size : int
        Ignored: every size can be encoded, and pictures are never scaled.
    **settings
        As for `VideoWriter`.

    Returns
    -------
    str
        The file's path.

    Raises
    ------
    TypeError, ValueError, OSError
        As `cu264.VideoWriter`.
    """
    given: Dict[str, Any] = dict(settings)
    if bitrate is not None:
        given["bitrate"] = bitrate
    elif "qp" not in given and "crf" not in given:
        if quality is not None and not 0 <= quality <= 10:
            raise ValueError(f"quality must be from 0 to 10, not {quality!r}")
        given["crf"] = DEFAULT_CRF if quality is None else int((1 - quality / 10) * 51)
    if output_video_path is None:
        descriptor, output_video_path = tempfile.mkstemp(suffix=".mp4")  # which nobody else can take meanwhile
        os.close(descriptor)
    with VideoWriter(output_video_path, fps, **given) as video:
        for frame in video_frames:  # type: ignore[union-attr]
            video.write(_array_of(frame))
    return os.fspath(output_video_path)


def _array_of(frame: Any) -> Any:
    if str(getattr(frame, "dtype", "")) == "float64":  # what arithmetic on Python's numbers makes of pictures
        frame = frame.astype("float32")
    return packed(frame)
