"""VideoEncoder, as torchcodec has it."""

from __future__ import annotations

import inspect
import os
import sys
from typing import Any, Dict, Optional, Union

from .calls import encode, write_video
from .compat_names import check_codec, settings_of

_CONTAINERS = {"mp4": "mp4", "mov": "mp4", "mkv": "mkv", "matroska": "mkv", "ts": "ts", "mpegts": "ts", "h264": "h264"}


def _settings(
    *,
    codec: Optional[str] = None,
    pixel_format: Optional[str] = None,
    crf: Union[int, float, None] = None,
    preset: Union[str, int, None] = None,
    extra_options: Optional[Dict[str, Any]] = None,
) -> Dict[str, Any]:
    """The options of all three methods."""
    check_codec(codec)
    if pixel_format not in (None, "yuv420p"):
        raise ValueError(f"pixel_format {pixel_format!r} is not available: cu264 encodes yuv420p")
    options = dict(extra_options or {})
    if crf is not None:
        options["crf"] = crf
    if preset is not None:
        options["preset"] = f"p{preset}" if isinstance(preset, int) else preset
    return settings_of(options)


def _takes_options(method: Any) -> Any:
    """Shows the names of a method's **options, which are those of `_settings`, in its signature."""
    own = inspect.signature(method)
    before = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
    method.__signature__ = own.replace(parameters=[*before, *inspect.signature(_settings).parameters.values()])
    return method


class VideoEncoder:
    """Does what `torchcodec.encoders.VideoEncoder` does, with this package's encoder.

    Parameters
    ----------
    frames : torch.Tensor
        uint8 of shape (N, 3, H, W), in host memory or on a CUDA device, where it is read in place.
    frame_rate : float

    Notes
    -----
    The methods take torchcodec's arguments. `codec` must be None or an H.264 encoder's name, and `pixel_format` None or
    "yuv420p". `crf` is 23 without it, as libx264's, and a preset of x264 or NVENC becomes the nearest one here; options
    that only concern other pictures than intra pictures are ignored.
    """

    def __init__(self, frames: Any, *, frame_rate: float) -> None:
        if not hasattr(frames, "shape") or not hasattr(frames, "__dlpack__"):
            raise ValueError(f"Expected frames to be a Tensor, got {type(frames) = }.")
        if len(frames.shape) != 4:
            raise ValueError(f"Expected 4D frames, got {frames.shape = }.")
        if str(frames.dtype).rpartition(".")[2] != "uint8":
            raise ValueError(f"Expected uint8 frames, got {frames.dtype = }.")
        if frame_rate <= 0:
            raise ValueError(f"{frame_rate = } must be > 0.")
        self._frames = frames
        self._rate = frame_rate

    @_takes_options
    def to_file(self, dest: Union[str, "os.PathLike[str]"], **options: Any) -> None:
        """Writes a file, whose name tells the container."""
        write_video(dest, self._frames, self._rate, layout="TCHW", **_settings(**options))

    @_takes_options
    def to_tensor(self, format: str, **options: Any) -> Any:
        """The file as a tensor of bytes in host memory. `format` is "mp4", "mov", "mkv" or "ts"."""
        data = self._encode(format, **options)
        torch = sys.modules["torch"]  # the frames are a tensor
        return torch.frombuffer(bytearray(data), dtype=torch.uint8)

    @_takes_options
    def to_file_like(self, file_like: Any, format: str, **options: Any) -> None:
        """Writes the file to an object with write()."""
        file_like.write(self._encode(format, **options))

    def _encode(self, format: str, **options: Any) -> bytes:
        if format not in _CONTAINERS:
            raise ValueError(f"format {format!r} is not available; {', '.join(_CONTAINERS)} are")
        container = _CONTAINERS[format]
        data: bytes = encode(self._frames, self._rate, layout="TCHW", container=container, **_settings(**options))
        return data
