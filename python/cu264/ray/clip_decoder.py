"""Reads a clip through PyAV: pictures with their time stamps and tags, and its audio packets."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Dict, Iterator, List, Optional, Tuple

import numpy as np
from av.stream import Discard

from ..audio import Audio
from ..media_input import MediaSource, as_file, open_media

# Pictures are handed on in chunks of at most this many bytes, or as single pictures.
_CHUNK_BYTES = 32 << 20
_READ_BYTES = 4 << 20
_UNSPECIFIED = 2  # ITU-T H.273
_FULL_RANGE = 2  # AVCOL_RANGE_JPEG
_ROUNDING = 1e-6  # seconds by which a time stamp may lie beside a span's end

Source = MediaSource


class ClipDecoder:
    """An open clip.

    Parameters
    ----------
    source : str, os.PathLike, bytes or a file object that can seek
    span : (float, float), optional
        Only the pictures and the audio from the first time, up to and without the second, in seconds from the
        beginning.
    threads : int, default 1
        Threads that decode.
    keep_audio : bool, default True
        Whether to look for audio.

    Attributes
    ----------
    fps : Fraction
    settings : dict
        What `VideoWriter` has to know about the pictures: pixel format, time base, colour and shape of samples.
    audio : Audio or None
        The clip's audio, if MP4 files take it: AAC and Opus.
    audio_state : str
        "copied", "none", or "left out" and why.
    """

    def __init__(
        self, source: Source, span: Optional[Tuple[float, float]] = None, threads: int = 1, keep_audio: bool = True
    ) -> None:
        self._span = span
        self.audio: Optional[Audio] = None
        self.audio_state = "none"
        self._container: Any = None
        self._file, self._owns_file = as_file(source)
        try:
            # A reading of its own and before the other, because a file object has a single position.
            packets = self._read_audio() if keep_audio else []
            self._container = self._open()
            self._stream = self._container.streams.best("video")  # not the cover of an album
            if self._stream is None:
                raise ValueError("the clip has no video")
            self._stream.codec_context.thread_count = threads
            self._stream.thread_type = "AUTO"
            rate = self._stream.average_rate or self._stream.guessed_rate or self._stream.base_rate
            self.fps = Fraction(rate) if rate else Fraction(25)
            self._time_base = Fraction(self._stream.time_base)
            self._start = self._stream.start_time or 0
            self._pictures = self._decode()
            first = next(self._pictures, None)
            if first is None:
                raise ValueError("the clip has no pictures" if span is None else f"the clip has no pictures in {span}")
            self._first, self._origin = first
            self._turns = round(self._first.rotation / 90) % 4  # quarters, counterclockwise
            self.settings = self._describe(self._first)
            self._place_audio(packets)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "ClipDecoder":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        if self._container is not None:
            self._container.close()
        if self._owns_file:
            self._file.close()

    def chunks(self) -> Iterator[Tuple[np.ndarray, List[int]]]:
        """Yields arrays of pictures and their time stamps, which begin at 0."""
        pictures: List[np.ndarray] = []
        stamps: List[int] = []
        last = -1
        for frame, pts in self._all():
            size, first = (frame.width, frame.height), (self._first.width, self._first.height)
            if size != first:
                raise ValueError(f"the clip's pictures change their size from {first} to {size}")
            last = max(pts - self._origin, last + 1)  # damaged files may repeat a time stamp
            pictures.append(self._array(frame))
            stamps.append(last)
            if (len(pictures) + 1) * pictures[0].nbytes > _CHUNK_BYTES:
                yield np.stack(pictures), stamps
                pictures, stamps = [], []
        if pictures:
            yield np.stack(pictures), stamps

    def _open(self) -> Any:
        self._file.seek(0)
        return open_media(self._file, buffer_size=_READ_BYTES)  # an object store answers few large requests sooner

    def _decode(self) -> Iterator[Tuple[Any, int]]:
        begin, end = self._span or (None, None)
        if begin:
            self._container.seek(self._start + int(begin / self._time_base), stream=self._stream)
        step = max(1, round(1 / self.fps / self._time_base))
        following = self._start
        for frame in self._container.decode(self._stream):
            pts = following if frame.pts is None else frame.pts
            following = pts + step
            time = float((pts - self._start) * self._time_base)
            if end is not None and time >= end - _ROUNDING:
                return
            if begin is None or time >= begin - _ROUNDING:
                yield frame, pts

    def _all(self) -> Iterator[Tuple[Any, int]]:
        yield self._first, self._origin
        yield from self._pictures

    def _describe(self, frame: Any) -> Dict[str, Any]:
        # PyAV's arrays of 4:2:0 have even sizes only, and RGB is converted by the encoder, with the matrix that it
        # tags.
        self._rgb = frame.format.is_rgb or frame.width % 2 != 0 or frame.height % 2 != 0
        settings: Dict[str, Any] = {
            "time_base": self._time_base,
            "pixel_format": "rgb" if self._rgb else "i420",
            "layout": "THWC" if self._rgb else "THW",
            "primaries": frame.color_primaries or _UNSPECIFIED,
            "transfer": frame.color_trc or _UNSPECIFIED,
            "matrix": _UNSPECIFIED if self._rgb else frame.colorspace or _UNSPECIFIED,
            "full_range": not self._rgb and self._is_420(frame) and self._is_full_range(frame),
        }
        shape = self._stream.sample_aspect_ratio
        if shape and shape != 1:
            settings["sample_aspect_ratio"] = 1 / shape if self._turns % 2 else shape
        return settings

    @staticmethod
    def _is_420(frame: Any) -> bool:
        return frame.format.name in ("yuv420p", "yuvj420p")

    @staticmethod
    def _is_full_range(frame: Any) -> bool:
        return frame.color_range == _FULL_RANGE or frame.format.name == "yuvj420p"

    def _array(self, frame: Any) -> np.ndarray:
        if self._rgb:
            return np.ascontiguousarray(np.rot90(frame.to_ndarray(format="rgb24"), self._turns))
        if not self._is_420(frame):
            frame = frame.reformat(format="yuv420p", dst_color_range="MPEG")
        picture = frame.to_ndarray()
        if not self._turns:
            return picture
        width, height = frame.width, frame.height
        samples = picture.reshape(-1)
        sizes = [(height, width), (height // 2, width // 2), (height // 2, width // 2)]
        planes = np.split(samples, np.cumsum([rows * columns for rows, columns in sizes])[:2])
        turned = [np.rot90(plane.reshape(size), self._turns) for plane, size in zip(planes, sizes)]
        return np.concatenate([plane.reshape(-1) for plane in turned]).reshape(-1, turned[0].shape[1])

    def _read_audio(self) -> List[Tuple[bytes, Fraction, Fraction]]:
        """Data, time and duration of the audio's packets, in seconds of the file; describes the audio."""
        with self._open() as container:
            if not container.streams.audio:
                return []
            stream = container.streams.audio[0]
            context = stream.codec_context
            name, config = context.codec.canonical_name, bytes(context.extradata or b"")
            if name not in ("aac", "opus"):
                self.audio_state = f"left out: {name} is neither AAC nor Opus"
            elif not config:
                self.audio_state = f"left out: the file does not describe its {name} apart from the packets"
            elif name == "opus" and context.channels > 2:
                self.audio_state = "left out: Opus of more than two channels"
            else:
                rate = 48000 if name == "opus" else context.sample_rate
                self.audio = Audio(name, config, rate, context.channels, [])
                for video in container.streams.video:
                    video.discard = Discard.all
                base = Fraction(stream.time_base)
                return [
                    (bytes(packet), packet.pts * base, (packet.duration or 0) * base)
                    for packet in container.demux(stream)
                    if packet.pts is not None and packet.size
                ]
        return []

    def _place_audio(self, packets: List[Tuple[bytes, Fraction, Fraction]]) -> None:
        """Counts the audio's times from the first picture, in samples, and keeps what lies in the span."""
        if self.audio is None:
            return
        origin = self._origin * self._time_base
        if self._span is not None:
            end = self._start * self._time_base + Fraction(self._span[1])
            packets = [packet for packet in packets if origin <= packet[1] < end]
        rate = self.audio.sample_rate
        placed = [(data, round((time - origin) * rate), max(1, round(length * rate))) for data, time, length in packets]
        self.audio_state = "copied" if placed else "none"
        self.audio = replace(self.audio, packets=placed) if placed else None
