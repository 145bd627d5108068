"""VideoEncoder and Encoder, as torchcodec has them."""

from __future__ import annotations

import contextlib
import inspect
import operator
import os
import sys
from typing import Any, Dict, Iterator, List, Optional, Union

from .audio import Audio
from .calls import encode, write_video
from .compat_names import check_codec, packed, settings_of
from .guard import Guard
from .session import Session
from .settings import FrameRate, make_settings
from .video_writer import Destination, container_of

_CONTAINERS = {"mp4": "mp4", "mov": "mp4", "mkv": "mkv", "matroska": "mkv", "ts": "ts", "mpegts": "ts", "h264": "h264"}


class _Refusal(RuntimeError, ValueError):
    """What torchcodec refuses with a RuntimeError and this package with a ValueError."""


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    """Makes what is refused an error that programs written for torchcodec catch, too."""
    try:
        yield
    except ValueError as error:
        raise _Refusal(str(error)) from error


def _type_of(frames: Any) -> str:
    """The type of an array's elements: PyTorch says torch.uint8, NumPy uint8."""
    return str(frames.dtype).rpartition(".")[2]


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype") and hasattr(value, "__dlpack__")


def _container(format: str) -> str:
    if format not in _CONTAINERS:
        raise ValueError(f"format {format!r} is not available; {', '.join(_CONTAINERS)} are")
    return _CONTAINERS[format]


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
        if not _is_tensor(frames):
            raise ValueError(f"Expected frames to be a Tensor, got {type(frames) = }.")
        if len(frames.shape) != 4:
            raise ValueError(f"Expected 4D frames, got {frames.shape = }.")
        if _type_of(frames) != "uint8":
            raise ValueError(f"Expected uint8 frames, got {frames.dtype = }.")
        if frame_rate <= 0:
            raise ValueError(f"{frame_rate = } must be > 0.")
        self._frames = frames
        self._rate = frame_rate

    @_takes_options
    def to_file(self, dest: Union[str, "os.PathLike[str]"], **options: Any) -> None:
        """Writes a file, whose name tells the container."""
        with _refusals():
            write_video(dest, self._pictures(), self._rate, layout="TCHW", **_settings(**options))

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
        with _refusals():
            container, settings = _container(format), _settings(**options)
            data: bytes = encode(self._pictures(), self._rate, layout="TCHW", container=container, **settings)
            return data

    def _pictures(self) -> Any:
        if self._frames.shape[1] != 3:
            raise ValueError(f"Expected frames of shape (N, 3, H, W), got {tuple(self._frames.shape)}.")
        return packed(self._frames)


class VideoStream:
    """Takes the frames of an `Encoder`."""

    def __init__(self, encoder: "Encoder", session: Session, shape: Any) -> None:
        self._encoder = encoder
        self._session = session
        self._shape = shape
        self._packets: List[Any] = []

    def add_frames(self, frames: Any) -> None:
        """Encodes frames: uint8 of shape (N, 3, H, W), which may be overwritten when this returns."""
        with _refusals(), self._encoder._guard:
            self._encoder._check_open()
            if not _is_tensor(frames):
                raise ValueError(f"Expected frames to be a Tensor, got {type(frames) = }.")
            if _type_of(frames) != "uint8":
                raise ValueError(f"Expected uint8 frames, got {frames.dtype = }.")
            if tuple(frames.shape)[1:] != self._shape:
                raise ValueError(f"Expected frames of shape (N, *{self._shape}), got {tuple(frames.shape)}.")
            for _ in self._session.write(packed(frames)):
                self._packets += self._session.take()


class AudioStream:
    """Takes the samples of an `Encoder`."""

    def __init__(self, encoder: "Encoder", sample_rate: int, channels: int, bit_rate: Optional[int]) -> None:
        self._encoder = encoder
        self._sample_rate, self._channels, self._bit_rate = sample_rate, channels, bit_rate
        self._samples: List[Any] = []

    def add_samples(self, samples: Any) -> None:
        """Takes samples: floats in [-1, 1] of shape (channels, N) or (N,)."""
        import numpy as np

        with _refusals(), self._encoder._guard:
            self._encoder._check_open()
            array = np.atleast_2d(np.array(samples.cpu().numpy() if hasattr(samples, "cpu") else samples))
            if array.dtype.kind != "f":
                raise ValueError(f"Expected samples of floating-point numbers, got {array.dtype}.")
            if array.shape[0] != self._channels:
                raise ValueError(f"Expected samples of {self._channels} channels, got shape {array.shape}.")
            self._samples.append(array.astype(np.float32))

    def _track(self) -> Optional[Audio]:
        import numpy as np

        if not self._samples:
            return None
        samples = np.concatenate(self._samples, axis=1)
        return Audio.encode(samples, self._sample_rate, bit_rate=self._bit_rate)


class Encoder:
    """Does what `torchcodec.encoders.Encoder` does, for one stream of video and one of audio at most.

    Pictures are encoded as they come, and the file is written by `close`. There is no file if an exception leaves the
    `with` statement; torchcodec's has what came before. What torchcodec refuses with a RuntimeError is one here, and a
    ValueError as well.

    Examples
    --------
    >>> encoder = cu264.compat.Encoder()
    >>> video = encoder.add_video(height=66, width=98, frame_rate=30)
    >>> with encoder.open_file("clip.mp4"):
    ...     video.add_frames(frames.transpose(0, 3, 1, 2))
    """

    def __init__(self) -> None:
        self._guard = Guard()
        self._video: Optional[VideoStream] = None
        self._audio: Optional[AudioStream] = None
        self._rate: FrameRate = 30
        self._settings: Dict[str, Any] = {}
        self._destination: Optional[Destination] = None
        self._closed = False

    def add_video(
        self,
        *,
        height: int,
        width: int,
        frame_rate: float,
        device: Any = None,
        codec: Optional[str] = None,
        pixel_format: Optional[str] = None,
        crf: Union[int, float, None] = None,
        preset: Union[str, int, None] = None,
        extra_options: Optional[Dict[str, Any]] = None,
    ) -> VideoStream:
        """Adds the stream of video. Frames are encoded where they are; `device` "cpu" or "cuda" decides for host memory."""
        with _refusals(), self._guard:
            self._check_unopened()
            for name, value in (("height", height), ("width", width), ("frame_rate", frame_rate)):
                if value <= 0:
                    raise ValueError(f"{name} must be > 0, got {value}")
            if self._video is not None:
                raise ValueError("one stream of video is all that a file of cu264 has")
            settings = _settings(
                codec=codec, pixel_format=pixel_format, crf=crf, preset=preset, extra_options=extra_options
            )
            if device is not None and str(device).startswith("cuda"):
                settings["backend"] = "cuda"
            self._settings, self._rate = {**settings, "layout": "TCHW"}, frame_rate
            session = Session(make_settings(frame_rate, **self._settings))
            self._video = VideoStream(self, session, (3, operator.index(height), operator.index(width)))
            return self._video

    def add_audio(
        self,
        *,
        sample_rate: int,
        num_channels: int,
        bit_rate: Optional[int] = None,
        out_num_channels: Optional[int] = None,
        out_sample_rate: Optional[int] = None,
    ) -> AudioStream:
        """Adds the stream of audio, which becomes AAC."""
        with _refusals(), self._guard:
            self._check_unopened()
            for name, value in (("sample_rate", sample_rate), ("num_channels", num_channels)):
                if value <= 0:
                    raise ValueError(f"{name} must be > 0, got {value}")
            if self._audio is not None:
                raise ValueError("one stream of audio is all that a file of cu264 has")
            if out_num_channels not in (None, num_channels) or out_sample_rate not in (None, sample_rate):
                raise ValueError("out_num_channels and out_sample_rate must be those of the samples")
            self._audio = AudioStream(self, int(sample_rate), int(num_channels), bit_rate)
            return self._audio

    def open_file(self, dest: Union[str, "os.PathLike[str]"]) -> "Encoder":
        """Opens a file, whose name tells the container. It appears when the encoder is closed."""
        with _refusals():
            return self._open(dest, container_of(dest, None))

    def open_file_like(self, dest: Any, *, format: str) -> "Encoder":
        """Opens an object with write(), which `close` writes to."""
        with _refusals():
            return self._open(dest, _container(format))

    def close(self) -> None:
        """Completes the file. Closing twice does nothing; an encoder that is closed is not opened again."""
        with _refusals(), self._guard:
            self._closed = True
            destination, self._destination = self._destination, None
            if destination is None or self._video is None:
                return
            try:
                session = self._video._session
                packets = [*self._video._packets, *session.flush()]
                if not packets:
                    raise ValueError("there are no frames to encode")
                if self._audio is not None:
                    destination.set_audio(self._audio._track())
                destination.open(session.encoder)
                destination.write(packets)
                destination.finish()
            except BaseException:
                destination.discard()
                raise

    def _open(self, target: Any, container: str) -> "Encoder":
        with self._guard:
            self._check_unopened()
            if self._video is None:
                raise ValueError("add_video comes first: a file of cu264 has video")
            settings = make_settings(self._rate, **self._settings).for_container(container)
            self._video._session.settings = settings
            self._destination = Destination(target, container, settings, None)
            return self

    def _check_unopened(self) -> None:
        if self._closed:
            raise RuntimeError("the encoder is closed: make another one")
        if self._destination is not None:
            raise RuntimeError("streams are added before the file is opened, and it is opened once")

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("the encoder is closed: make another one")
        if self._destination is None:
            raise RuntimeError("open_file or open_file_like comes first")

    def __enter__(self) -> "Encoder":
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.close()
            return
        self._closed = True
        if self._destination is not None:
            destination, self._destination = self._destination, None
            destination.discard()

    def __del__(self) -> None:
        destination = getattr(self, "_destination", None)
        if destination is not None and self._guard.is_ours:
            destination.discard()
