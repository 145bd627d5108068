"""Files: VideoWriter."""

from __future__ import annotations

import errno
import io
import os
from typing import TYPE_CHECKING, Any, Iterator, List, Optional, Protocol, Sequence, Tuple, Union

from . import _core
from .arrays import FramesOrChunks
from .audio import Audio, AudioInput, import_av, track_of
from .guard import Guard, unfinished
from .notices import logger
from .session import Session
from .settings import FrameRate, Settings, VideoSettings, documented, make_settings

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Writable(Protocol):
    """A file object, as far as it is needed."""

    def write(self, data: bytes, /) -> object: ...


Target = Union[str, "os.PathLike[str]", Writable]

CONTAINERS = ("mp4", "fmp4", "h264", "mkv", "ts")
_CONTAINER_OF = {
    ".mp4": "mp4",
    ".m4v": "mp4",
    ".mov": "mp4",
    ".h264": "h264",
    ".264": "h264",
    ".mkv": "mkv",
    ".ts": "ts",
}
_THROUGH_PYAV = ("mkv", "ts")
#: Why not, and what instead.
_REFUSED = {
    "webm": "WebM holds VP8, VP9 and AV1 alone: write .mp4 for browsers, or .mkv, the same file format without that rule",
    "avi": "AVI does not say when each picture is shown: write .mp4 or .mkv",
    "gif": "a GIF holds no H.264: write .mp4, which browsers loop with <video loop muted autoplay>",
}


def check_container(container: str) -> None:
    if container not in CONTAINERS:
        why = f"; {_REFUSED[container]}" if container in _REFUSED else ""
        raise ValueError(f"container must be one of {', '.join(CONTAINERS)}, not {container!r}{why}")


def container_of(target: Any, container: Optional[str]) -> str:
    if container is not None:
        check_container(container)
        return container
    if not isinstance(target, (str, os.PathLike)):
        return "mp4"
    suffix = os.path.splitext(os.fspath(target))[1].lower()
    if suffix[1:] in _REFUSED:
        raise ValueError(f"{os.fspath(target)!r}: {_REFUSED[suffix[1:]]}")
    if suffix not in _CONTAINER_OF:
        raise ValueError(
            f"{os.fspath(target)!r}: the name does not tell the container; end it in {', '.join(_CONTAINER_OF)}, "
            "or say container="
        )
    return _CONTAINER_OF[suffix]


class Destination:
    """Puts packets into a container, and that into a file, a file object or memory. A file appears when it is done."""

    def __init__(
        self, target: Any, container: str, settings: Settings, audio: Optional[Audio], fragment_seconds: float = 1.0
    ) -> None:
        if target is not None and not isinstance(target, (str, os.PathLike)) and not hasattr(target, "write"):
            raise TypeError(f"the target must be a path or an object with write(), not {type(target).__name__}")
        self._path = os.fspath(target) if isinstance(target, (str, os.PathLike)) else None
        self._object = target if self._path is None else None
        self._container = container
        self._settings = settings
        self._fragment_seconds = fragment_seconds
        self._audio: Optional[Audio] = None
        self._audio_packets: Optional[Iterator[Tuple[bytes, int, int]]] = None
        self.set_audio(audio)
        self._next_audio: Optional[Tuple[bytes, int, int]] = None
        self._mp4: Any = None  # the muxer, _core.Mp4 or AvFile; None for a bare stream
        self._stream: List[bytes] = []
        self._memory: Optional[io.BytesIO] = None  # of PyAV, for a file in memory
        self._file: Optional[_core.FileOutput] = None
        if container in _THROUGH_PYAV:
            import_av(f"container={container!r}")  # before anything is encoded
        if self._path is not None:
            self._file = _core.FileOutput(self._path)
            unfinished.add(self)
            if container == "mp4" and not self._file.regular:
                self.discard()
                problem = "cannot write: an MP4 file's index comes before its pictures: use container='fmp4'"
                raise OSError(errno.ESPIPE, problem, self._path)

    def set_audio(self, audio: Optional[Audio]) -> None:
        """Says which track the file has, before it is opened."""
        if audio is not None and self._container == "h264":
            raise ValueError("a bare H.264 stream has no audio: use container='mp4', or leave out audio=")
        self._audio = audio
        self._audio_packets = iter(audio.packets) if audio else None

    def open(self, encoder: _core.EncoderSession) -> None:
        """Begins the file with the stream's headers, once the encoder is open."""
        if self._container == "h264":
            return
        base = self._settings.time_base
        if self._container in _THROUGH_PYAV:
            from .av_file import AvFile  # here, because it is seldom wanted

            if self._file is None and self._object is None:
                self._memory = io.BytesIO()
            file = next(each for each in (self._file, self._object, self._memory) if each is not None)
            self._mp4 = AvFile(file, self._container, encoder.headers, base, self._audio)
            return
        self._mp4 = _core.Mp4(
            encoder.headers,
            (base.numerator, base.denominator),
            self._container == "fmp4",
            self._fragment_seconds,
            self._file,
            self._audio.track() if self._audio else None,
        )
        if self._audio is None:  # audio has its place between pictures
            encoder.write_to(self._mp4, self._settings.duration)

    def write(self, packets: Sequence[_core.Packet]) -> None:
        """Takes packets that the encoder has not written itself, and passes on what is complete."""
        if self._mp4 is None:
            for packet in packets:
                self._put(packet.data)
            return
        for packet in packets:
            if self._audio is not None:
                self._write_audio(float(packet.pts * self._settings.time_base))
            self._mp4.write([packet], self._settings.duration)
        if self._container == "fmp4":
            self._pass_on()

    def end_fragment(self) -> None:
        if self._mp4 is not None:
            self._mp4.end_fragment()
            self._pass_on()

    def finish(self) -> None:
        if self._mp4 is not None:
            if self._audio_packets is not None:
                self._write_audio(float("inf"))
            self._mp4.finish()
            self._pass_on()
            if self._memory is not None:
                self._stream.append(self._memory.getvalue())
        elif self._container != "h264":
            raise ValueError("an MP4 file needs at least one frame")
        if self._file is not None:
            self._file.commit()
            self._file = None
            logger.info("%s is written", self._path)

    def discard(self) -> None:
        """Removes a file that is not finished."""
        file, self._file = self._file, None
        if file is not None:
            file.discard()
        self._mp4 = None  # after it, because PyAV ends what it has begun

    def remove_temporary(self) -> None:
        if self._file is not None:
            self._file.remove_temporary()

    def take(self) -> bytes:
        """Returns what has been written to memory since the last call."""
        pieces, self._stream = self._stream, []
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _write_audio(self, until: float) -> None:
        assert self._audio is not None and self._audio_packets is not None and self._mp4 is not None
        while True:
            if self._next_audio is None:
                self._next_audio = next(self._audio_packets, None)
            if self._next_audio is None or self._next_audio[1] / self._audio.sample_rate > until:
                return
            data, pts, duration = self._next_audio
            self._mp4.write_audio(bytes(data), pts, duration)
            self._next_audio = None

    def _pass_on(self) -> None:
        if self._path is None and isinstance(self._mp4, _core.Mp4):
            data = self._mp4.take()
            if data:
                self._put(data)

    def _put(self, data: bytes) -> None:
        if self._file is not None:
            self._file.write(data)
        elif self._object is not None:
            self._object.write(data)
        else:
            self._stream.append(data)


@documented
class VideoWriter:
    """Writes a video to a file, chunk by chunk.

    The file appears under its name when the writer is closed. If the `with` block is left by an exception, or the
    writer is not closed, there is no file.

    Parameters
    ----------
    path_or_file : str, os.PathLike or object with write()
        `.mp4`, `.m4v` and `.mov` become MP4, `.h264` and `.264` a bare stream, `.mkv` and `.ts` Matroska and an MPEG
        transport stream, for which PyAV must be installed. A link is written through; a pipe or a device takes every
        container but mp4. An object is written to when the writer is closed (mp4), or
        while frames come (the others); for mkv it should have seek().
    fps : int, float, Fraction, str or (int, int)
        Pictures a second.
    container : {"mp4", "fmp4", "h264", "mkv", "ts"}, optional
        Instead of what the name tells; mp4 for an object. fmp4 is MP4 in fragments of a second.
    audio : Audio, or (samples, sample rate), optional
        A track of AAC or Opus; `Audio.encode` says what samples may be.
    SETTINGS

    Examples
    --------
    >>> with cu264.VideoWriter("clip.mp4", fps=24) as video:
    ...     for chunk in chunks:
    ...         video.write(chunk)
    """

    def __init__(
        self,
        path_or_file: Target,
        fps: FrameRate,
        *,
        container: Optional[str] = None,
        audio: Optional[AudioInput] = None,
        **settings: Unpack[VideoSettings],
    ) -> None:
        self._closed = True  # until there is something to close
        self._guard = Guard()
        chosen = container_of(path_or_file, container)
        made = make_settings(fps, **settings).for_container(chosen)
        self._destination = Destination(path_or_file, chosen, made, track_of(audio))
        self._session = Session(made, self._destination.open)
        self._closed = False

    def write(
        self,
        frames: FramesOrChunks,
        pts: Optional[Sequence[int]] = None,
        *,
        qps: Optional[Sequence[Optional[int]]] = None,
        copy: bool = True,
        durations: Optional[Sequence[int]] = None,
        keys: Optional[Sequence[bool]] = None,
    ) -> None:
        """Encodes frames.

        Parameters
        ----------
        frames : array, or iterable of arrays
            One picture or several: uint8, float16, bfloat16 or float32, of shape (T, H, W, C), (T, C, H, W), (T, H, W) or
            without T, in host memory or on a CUDA device; see `layout` and `pixel_format`.
        pts : sequence of int, optional
            When each picture is shown, in units of the time base, for a variable frame rate.
        qps : sequence of int or None, optional
            A quantiser for each picture, instead of the one that the settings give it; None leaves that. Limits hold.
        copy : bool, default True
            Frames on a device are copied there first, so that you may overwrite them when this returns. With False they
            must stay unchanged until `close`.
        durations : sequence of int, optional
            How long each picture is shown, in units of the time base, which `timed_bitrate` counts. By default until the
            next picture of this call, and the last one as long as `fps` says.
        keys : sequence of bool, optional
            Which pictures begin a GOP, beside those that `gop` makes key pictures: where a viewer joins, or after a loss.

        Raises
        ------
        TypeError
            Not an array, or of another dtype.
        ValueError
            A shape, layout, device, pts or duration that does not fit; a closed writer.
        OSError
            The file cannot be written.
        """
        with self._guard:
            if self._closed:
                raise ValueError("the writer is closed: open another one")
            for _ in self._session.write(frames, pts, qps, copy, durations, keys):
                self._destination.write(self._session.take())

    def _write_once(self, array: _core.FrameArray, expected: int, qps: Optional[Sequence[Optional[int]]]) -> None:
        """Encodes an array that is all of the video, which the caller does not overwrite before `close`."""
        with self._guard:
            self._session.send(array, expected=expected, qps=qps)
            self._destination.write(self._session.take())

    @property
    def dropped(self) -> int:
        """Pictures that `on_overflow="drop"` has left out so far."""
        with self._guard:
            return self._session.dropped

    def close(self) -> None:
        """Completes the file. Closing twice does nothing.

        Raises
        ------
        OSError
            The file cannot be written. There is none then.
        ValueError
            Nothing was written, and the container needs a picture.
        """
        with self._guard:
            if self._closed:
                return
            self._closed = True
            try:
                self._destination.write(self._session.flush())
                self._destination.finish()
            except BaseException:
                self.discard()
                raise

    def discard(self) -> None:
        """Closes without a file. After `close` it does nothing."""
        if not self._guard.is_ours:  # a child made by fork() leaves its parent's file alone
            return
        with self._guard:
            self._closed = True
            self._session.abandon()
            self._destination.discard()

    def __enter__(self) -> "VideoWriter":
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            self.discard()
