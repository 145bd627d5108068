"""The encoder behind all calls: it opens with the first frames, and refuses others that do not fit them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

from . import _core
from .arrays import each_array, plain
from .notices import logger, warn
from .settings import CHANGEABLE, Settings, option_texts, stream_format


_RANGES = {(-1.0, 1.0): "minus_one_to_one", (0.0, 255.0): "bytes"}
_MOST = 0.5  # of the samples that are looked at


def import_frames(
    array: Any, settings: Settings, known_layout: Optional[str] = None, single: bool = False
) -> _core.FrameArray:
    """Imports an array. `known_layout` is that of pictures before it; `single`: it is one picture."""
    value_range = _RANGES.get(settings.value_range or (0.0, 1.0), "unit")
    frames = _core.FrameArray(
        plain(array, settings.pixel_format == "gray"),
        settings.layout,
        settings.pixel_format,
        value_range,
        known_layout,
        single,
    )
    if settings.value_range is not None and not frames.floating:
        raise ValueError("value_range must be left out: it is for frames of floating-point numbers, and these are uint8")
    if frames.device is not None and settings.backend == "cpu":
        raise ValueError(
            f"frames are on CUDA device {frames.device}, but backend='cpu' reads host memory: copy them there "
            "(torch: frames.cpu(), CuPy: frames.get()), or leave out backend="
        )
    if frames.device is not None and settings.device not in (None, frames.device):
        raise ValueError(f"frames are on CUDA device {frames.device}, but device={settings.device} was asked for")
    return frames


def checked_qps(qps: Optional[Sequence[Optional[int]]], frames: int) -> List[Optional[int]]:
    """A quantiser, or None, for each picture; nothing where there are none."""
    if qps is None:
        return []
    if len(qps) != frames:
        raise ValueError(f"there are {frames} frames, but {len(qps)} values of qps")
    return [None if qp is None else int(option_texts({"qp": qp})["qp"]) for qp in qps]


def checked_durations(
    durations: Optional[Sequence[int]], pts: Optional[Sequence[int]], timed: bool
) -> Optional[List[int]]:
    """How long each picture is shown. By default `timed` pictures are shown until the next one, where its time is known.

    0 is what the frame rate says.
    """
    if durations is None:
        return [int(b) - int(a) for a, b in zip(pts, pts[1:])] + [0] if timed and pts else None
    made = [int(duration) for duration in durations]
    if any(duration < 1 for duration in made):
        raise ValueError("durations must be positive")
    return made


def kind_of(frames: _core.FrameArray) -> Dict[str, Any]:
    return {"size": (frames.width, frames.height), "layout in memory": frames.format, "device": frames.device}


class Session:
    """One stream.

    Frames on a device are read after `send` has returned; `flush` and `finish_chunk` say when not any more.
    """

    def __init__(self, settings: Settings, on_open: Optional[Callable[[_core.EncoderSession], None]] = None) -> None:
        self.settings = settings
        self._on_open = on_open
        self._encoder: Optional[_core.EncoderSession] = None
        self._kind: Dict[str, Any] = {}  # of the first frames, which others have to share
        self._last_pts: Optional[int] = None
        self._layout: Optional[str] = None  # of the pictures, once it is known
        self._range_checks = 8  # arrays whose samples are still looked at
        self.progress: Optional[Callable[[int], object]] = None

    @property
    def encoder(self) -> _core.EncoderSession:
        if self._encoder is None:
            raise ValueError("there is no stream yet: write frames first")
        return self._encoder

    @property
    def is_within_clip(self) -> bool:
        """Whether frames have come since the last clip ended."""
        return self._last_pts is not None

    @property
    def is_open(self) -> bool:
        return self._encoder is not None

    def import_frames(self, array: Any, known_layout: Optional[str] = None) -> _core.FrameArray:
        frames = import_frames(array, self.settings, self._layout or known_layout)
        for name, old in self._kind.items():
            new = kind_of(frames)[name]
            if old != new and not (name == "size" and self._last_pts is None):  # a clip has the size of its first
                raise ValueError(f"frames have another {name} than the first: {new}, but the stream has {old}")
        self._check_range(frames)
        return frames

    def write(
        self,
        frames: Any,
        pts: Optional[Sequence[int]] = None,
        qps: Optional[Sequence[Optional[int]]] = None,
        copy: bool = True,
        durations: Optional[Sequence[int]] = None,
        keys: Optional[Sequence[bool]] = None,
    ) -> Iterator[None]:
        """Sends an array, or the arrays of an iterable; stops after each, so that its packets can be taken."""
        if pts is None and qps is None and durations is None and keys is None and not isinstance(frames, (list, tuple)):
            for array in each_array(frames):
                yield from self._write([self.import_frames(array)], None, None, copy, None, None)
            return
        arrays: List[_core.FrameArray] = []
        for array in each_array(frames):
            arrays.append(self.import_frames(array, arrays[0].picture_layout if arrays else None))
        yield from self._write(arrays, pts, qps, copy, durations, keys)

    def _write(
        self,
        arrays: Sequence[_core.FrameArray],
        pts: Optional[Sequence[int]],
        qps: Optional[Sequence[Optional[int]]],
        copy: bool,
        durations: Optional[Sequence[int]],
        keys: Optional[Sequence[bool]],
    ) -> Iterator[None]:
        count = sum(len(array) for array in arrays)
        for name, values in (("pts", pts), ("qps", qps), ("durations", durations), ("keys", keys)):
            if values is not None and len(values) != count:
                raise ValueError(f"there are {count} frames, but {len(values)} values of {name}")
        durations = checked_durations(durations, pts, self.settings.timed_bitrate)
        first = 0
        for array in arrays:
            end = first + len(array)
            if copy:
                array.copy()
            self.send(
                array,
                None if pts is None else pts[first:end],
                qps=None if qps is None else qps[first:end],
                durations=None if durations is None else durations[first:end],
                keys=None if keys is None else keys[first:end],
            )
            first = end
            yield

    def _check_range(self, frames: _core.FrameArray) -> None:
        if self._range_checks == 0 or self.settings.value_range == (0.0, 255.0):
            return
        self._range_checks -= 1
        if frames.clipped() > _MOST:
            self._range_checks = 0
            low, high = self.settings.value_range or (0.0, 1.0)
            warn(
                f"most samples of the frames lie outside {low:g} to {high:g} and are clamped: say value_range=(0, 255) or "
                "(-1, 1) if those are black and white"
            )

    def send(
        self,
        frames: _core.FrameArray,
        pts: Optional[Sequence[int]] = None,
        expected: int = 0,
        qps: Optional[Sequence[Optional[int]]] = None,
        whole: bool = False,
        durations: Optional[Sequence[int]] = None,
        keys: Optional[Sequence[bool]] = None,
    ) -> None:
        """Sends frames; `expected` is how many come at once, if that is known, `whole` if as many will come again."""
        quantisers = checked_qps(qps, len(frames))
        times = self.begin(frames, pts, expected, whole)
        if times:
            self.encoder.send(
                frames, times, quantisers, list(durations or []), [bool(key) for key in keys] if keys is not None else []
            )

    def begin(
        self, frames: _core.FrameArray, pts: Optional[Sequence[int]], expected: int = 0, whole: bool = False
    ) -> List[int]:
        """Opens the encoder for frames that are sent next, and returns their times."""
        if pts is None:
            duration = self.settings.duration
            first = 0 if self._last_pts is None else self._last_pts + duration
            pts = range(first, first + len(frames) * duration, duration)
        if len(pts) != len(frames):
            raise ValueError(f"there are {len(frames)} frames, but {len(pts)} values of pts")
        times = [int(time) for time in pts]
        if not times:
            return []
        before = times if self._last_pts is None else [self._last_pts, *times]
        if any(b <= a for a, b in zip(before, before[1:])):
            raise ValueError("pts must increase from picture to picture")
        if self._encoder is None:
            self._open(frames, expected, whole)
        elif self._kind["size"] != (frames.width, frames.height):
            self._encoder.reconfigure({"size": f"{frames.width}x{frames.height}"})
            self._kind = kind_of(frames)
        self._last_pts = times[-1]
        self._layout = self._layout or frames.picture_layout
        return times

    def report_end(self) -> None:
        """Reports that all pictures have been coded."""
        if self.progress is not None and self._encoder is not None:
            self.progress(self._encoder.coded)

    @property
    def dropped(self) -> int:
        return self._encoder.dropped if self._encoder else 0

    def take(self) -> List[_core.Packet]:
        return self._encoder.take() if self._encoder else []

    def finish_chunk(self) -> None:
        """Waits for the packets of all frames, but for those of a batch that is not full."""
        if self._encoder:
            self._encoder.wait_for_full_batches()

    def end_clip(self) -> None:
        """Ends the clip; its packets may still come. The next frames are another clip."""
        self.encoder.end_clip()
        self._last_pts = None

    def flush(self) -> List[_core.Packet]:
        """Ends the clip."""
        if self._encoder is None:
            return []
        self._encoder.flush()
        self._last_pts = None
        return self._encoder.take()

    def reconfigure(self, **changes: Any) -> None:
        """Changes settings, named as `make_settings` names them; None is no change."""
        for name in changes:
            if name not in CHANGEABLE:
                raise TypeError(f"{name}= cannot change: {', '.join(CHANGEABLE)} can")
        options = option_texts(changes)
        changed = replace(self.settings, options=tuple({**dict(self.settings.options), **options}.items()))
        stream_format(changed, 16, 16, "i420", changed.device).check()
        if self._encoder is not None:
            self._encoder.reconfigure(options)
        self.settings = changed

    def abandon(self) -> None:
        """Drops the stream, and what it holds of frames and files."""
        self._encoder = None

    def _open(self, frames: _core.FrameArray, expected: int, whole: bool = False) -> None:
        settings = self.settings
        device = frames.device if frames.device is not None else settings.device
        description = stream_format(settings, frames.width, frames.height, frames.format, device)
        asked = int(dict(settings.options)["batch"])
        if expected > 0 and asked == 0:
            batch = _batch_for(description, expected, dict(settings.options)["preset"], whole)
            if batch is not None:
                description = stream_format(settings, frames.width, frames.height, frames.format, device, batch)
        self._encoder = _core.EncoderSession(description)
        self._kind = kind_of(frames)
        if self.progress is not None:
            self._encoder.report_to(self.progress)
        for message in self._encoder.warnings:
            warn(message)
        logger.debug(
            "encoder opened: %dx%d, %s, backend %s, profile %s",
            frames.width,
            frames.height,
            frames.format,
            self._encoder.backend,
            self._encoder.profile,
        )
        if self._on_open:
            self._on_open(self._encoder)


def _batch_for(description: _core.StreamFormat, pictures: int, preset: str, whole: bool) -> Optional[int]:
    """Returns the size of the fewest equal batches that a device holds; None without one. `whole`: the last is full."""
    try:
        most = description.automatic_batch()
    except RuntimeError:
        return None
    fewest = -(-pictures // most)
    if whole:
        fewest = next((count for count in range(fewest, 2 * fewest + 1) if pictures % count == 0), fewest)
    elif preset == "fast" and pictures >= 64 and fewest == 1:
        return -(-pictures * 2 // 3)  # the host packs one batch while the device encodes the other
    return -(-pictures // fewest)
