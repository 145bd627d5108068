"""FragmentedMP4VideoEncoder, as vLLM-Omni has it."""

from __future__ import annotations

from typing import Any, Dict, Optional

from .arrays import stacked
from .compat_names import packed, settings_of
from .guard import Guard
from .stream_encoder import StreamEncoder


class FragmentedMP4VideoEncoder:
    """Does what vLLM-Omni's class of this name does: takes chunks of a video, gives pieces of a fragmented MP4 stream.

    Parameters
    ----------
    fps : int or float
    video_codec_options : dict, optional
        As for libx264. crf is 18 without it, as there; a preset of x264 becomes the nearest one here.
    **settings
        As for `cu264.StreamEncoder`; they replace those of `video_codec_options`.

    Notes
    -----
    Chunks are arrays of shape (T, H, W, C), (T, C, H, W) or (C, T, H, W), or lists of pictures. Floating-point numbers
    are in [-1, 1] in tensors of PyTorch and in [0, 1] in other arrays, unless `value_range` says otherwise. Tensors on
    a CUDA device are encoded there.
    """

    def __init__(
        self, *, fps: float, video_codec_options: Optional[Dict[str, str]] = None, **settings: Any
    ) -> None:
        self._guard = Guard()
        self._fps = float(fps)
        options = settings_of(video_codec_options or {}, crf=18)
        if any(settings.get(name) is not None for name in ("qp", "crf", "bitrate")):
            options = {name: value for name, value in options.items() if name not in ("qp", "crf")}
        self._settings: Dict[str, Any] = {**options, **settings}
        self._stream: Optional[StreamEncoder] = None
        self._closed = False

    def encode(self, video: Any) -> bytes:
        """Encodes a chunk and returns the new bytes of the stream."""
        with self._guard:
            return self._encode(video)

    def _encode(self, video: Any) -> bytes:
        if self._closed:
            raise RuntimeError("Cannot encode after FragmentedMP4VideoEncoder.close().")
        if isinstance(video, (list, tuple)) and not video:
            raise ValueError("No frames found to encode.")
        chunk = stacked(video) if isinstance(video, (list, tuple)) else video
        if self._stream is None:
            settings = dict(self._settings)
            if "value_range" not in settings and type(chunk).__module__ == "torch" and chunk.is_floating_point():
                settings["value_range"] = (-1, 1)
            settings.setdefault("layout", _layout(tuple(chunk.shape)))
            self._stream = StreamEncoder(self._fps, **settings)
        return self._stream.encode(packed(chunk))

    def close(self) -> bytes:
        """Ends the stream and returns its last bytes; nothing if it is closed already, or nothing was encoded."""
        with self._guard:
            if self._closed or self._stream is None:
                return b""
            self._closed = True
            return self._stream.close()


def _layout(shape: Any) -> str:
    if len(shape) == 4 and shape[-1] not in (3, 4):
        return "CTHW" if shape[0] in (3, 4) else "TCHW"
    return "THWC" if len(shape) == 4 else "HWC"
