"""Many streams at once: StreamGroup."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Dict, NamedTuple, Optional, Sequence, TypeVar

from . import _core
from .arrays import Frames
from .guard import Guard
from .notices import warn
from .readiness import readable
from .session import checked_durations, checked_qps, import_frames, kind_of
from .settings import FrameRate, Settings, StreamSettings, make_settings, option_texts, stream_format

if TYPE_CHECKING:
    from typing_extensions import Unpack


_T = TypeVar("_T")


class GroupResult(NamedTuple):
    """The result of `StreamGroup.receive_any`: a packet, or the error of a picture that could not be encoded."""

    stream: "GroupStream"
    packet: Optional[_core.Packet]
    error: Optional[RuntimeError]


class GroupStream:
    """A stream of a `StreamGroup`; `StreamGroup.open` makes it.

    Any thread may call anything. Pictures are encoded in the order of their submission.
    """

    def __init__(self, group: "StreamGroup", settings: Settings) -> None:
        self._group = group
        self._settings = settings
        self._submitting = Guard()
        self._state = threading.Lock()  # of the next two
        self._id: Optional[int] = None
        self._kind: Dict[str, Any] = {}  # of the first picture, which others have to share
        self._last_pts: Optional[int] = None
        self._layout: Optional[str] = None
        self._closed = False

    def submit(
        self,
        picture: Frames,
        pts: Optional[int] = None,
        timeout: Optional[float] = None,
        *,
        qp: Optional[int] = None,
        copy: bool = True,
        duration: Optional[int] = None,
        key: bool = False,
    ) -> bool:
        """Takes a picture.

        Parameters
        ----------
        picture : array
            One picture, as for `VideoWriter.write`.
        pts : int, optional
            When it is shown, in units of the time base; one picture after the one before by default.
        timeout : float, optional
            How many seconds to wait for room while the stream has `queue` pictures whose packets were not received;
            without a limit by default.
        qp : int, optional
            The picture's quantiser, instead of the one that the settings give it.
        copy : bool, default True
            A picture on a device is copied there first, so that you may overwrite it when this returns. With False it
            must stay unchanged until its packet has been received.
        duration : int, optional
            How long it is shown, in units of the time base, which `timed_bitrate` counts; by default as long as `fps` says.
        key : bool, default False
            Whether the picture begins a GOP, wherever `gop` would have it begin: where a viewer joins, or after a loss.

        Returns
        -------
        bool
            Whether the picture was taken. False: there was no room within the timeout.

        Raises
        ------
        TypeError, ValueError
            As `VideoWriter.write`; more than one picture; a closed stream.
        """
        with self._submitting:
            frames = import_frames(picture, self._settings, self._layout, single=True)
            if len(frames) != 1:
                raise ValueError(f"submit takes one picture, not {len(frames)}")
            for name, old in self._kind.items():
                new = kind_of(frames)[name]
                if old != new:
                    raise ValueError(f"the picture has another {name} than the first: {new}, but the stream has {old}")
            if pts is None:
                pts = 0 if self._last_pts is None else self._last_pts + self._settings.duration
            pts = int(pts)
            quantiser = checked_qps([qp], 1)[0]
            shown = (checked_durations(None if duration is None else [duration], None, False) or [0])[0]
            if self._last_pts is not None and pts <= self._last_pts:
                raise ValueError("pts must increase from picture to picture")
            stream = self._open(frames)
            if copy:
                frames.copy()
            session = self._group._session
            taken: bool = self._unless_closed(lambda: session.submit(stream, frames, pts, shown, key, quantiser, timeout))
            if taken:
                self._last_pts = pts
                self._layout = self._layout or frames.picture_layout
            return taken

    def receive(self, timeout: Optional[float] = None) -> Optional[_core.Packet]:
        """Waits for the stream's next packet.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait for it; without a limit by default.

        Returns
        -------
        Packet or None
            None: there is none yet, or no picture of the stream is on its way.

        Raises
        ------
        RuntimeError
            A picture could not be encoded. The picture after it follows.
        ValueError
            The stream is closed.
        """
        self._check_open()
        opened = self._id
        if opened is None:
            return None
        return self._unless_closed(lambda: self._group._session.receive(opened, timeout))

    def flush(self) -> None:
        """Ends the clip: the next picture begins another one, once the packets of this one have come.

        Raises
        ------
        ValueError
            The stream is closed.
        """
        self._check_open()
        with self._submitting:
            opened = self._id
            if opened is not None:
                self._unless_closed(lambda: self._group._session.flush(opened))
            self._last_pts = None

    def close(self) -> None:
        """Ends the stream, and drops what was not received of it. Closing twice does nothing."""
        if not self._submitting.is_ours:  # a child made by fork() has no threads that could end the stream
            self._closed = True
            return
        with self._state:
            if self._closed:
                return
            self._closed = True
        if self._id is not None:
            self._group._session.close(self._id)
            self._group._streams.pop(self._id, None)

    @property
    def extradata(self) -> bytes:
        """SPS and PPS in Annex B form, once a picture was submitted."""
        opened = self._opened()
        return self._unless_closed(lambda: self._group._session.headers(opened))

    @property
    def backend(self) -> str:
        """"cuda" or "cpu", once a picture was submitted."""
        opened = self._opened()
        return self._unless_closed(lambda: self._group._session.backend(opened))

    @property
    def dropped(self) -> int:
        """Pictures of the clip that `on_overflow="drop"` has left out so far."""
        opened = self._opened()
        return self._unless_closed(lambda: self._group._session.dropped(opened))

    def __enter__(self) -> "GroupStream":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _unless_closed(self, call: Callable[[], _T]) -> _T:
        """Calls, and says that another thread has closed the stream meanwhile if that is what the group complains of."""
        try:
            return call()
        except ValueError:
            self._check_open()
            raise

    def _check_open(self) -> None:
        self._group._check_process()
        if self._closed:
            raise ValueError("the stream is closed: open another one")

    def _opened(self) -> int:
        self._check_open()
        if self._id is None:
            raise ValueError("there is no stream yet: submit a picture first")
        return self._id

    def _open(self, frames: _core.FrameArray) -> int:
        with self._state:
            self._check_open()
            if self._id is not None:
                return self._id
            device = frames.device if frames.device is not None else self._settings.device
            format = stream_format(self._settings, frames.width, frames.height, frames.format, device)
            opened: int = self._group._session.open(format)
            self._group._streams[opened] = self
            self._kind = kind_of(frames)
            self._id = opened
        for message in self._unless_closed(lambda: self._group._session.warnings(opened)):
            warn(message)
        return opened


class StreamGroup:
    """Encodes many streams in common batches: cameras, simulators, remote sessions.

    One picture at a time leaves most of a GPU idle, and encoders beside each other get in each other's way; a group
    takes whatever waits whenever the device is free, whichever streams it belongs to. Each stream has the bytes that an
    `Encoder` gives it. Streams of one size, format in memory, preset, number of slices and adaptive quantisation share
    batches. Any thread may call anything; packets are taken stream by stream (`GroupStream.receive`) or all in one
    place (`receive_any`, `async for`).

    Parameters
    ----------
    backend : {"auto", "cuda", "cpu"}, default "auto"
    devices : sequence of int, optional
        CUDA devices; each stream stays on one of them. Device 0 by default.
    threads : int, default 0
        Threads of the CPU backend; 0: one a core.
    batch : int, default 0
        The most pictures of a batch; 0: as many as make good use of the device.
    batches_in_flight : int, default 2
        Batches of one size of picture that a device encodes side by side, 1 to 8.
    longest_wait : float, default 0.0003
        Seconds that a picture may wait for pictures of other streams although the device could begin.
    queue : int, default 4
        Pictures of a stream that were submitted and whose packets were not received, 1 to 1024.

    Examples
    --------
    >>> group = cu264.StreamGroup()
    >>> cameras = [group.open(fps=30, qp=24) for _ in range(64)]
    >>> cameras[5].submit(picture)  # from any thread
    >>> stream, packet, error = group.receive_any()
    """

    def __init__(
        self,
        *,
        backend: str = "auto",
        devices: Optional[Sequence[int]] = None,
        threads: int = 0,
        batch: int = 0,
        batches_in_flight: int = 2,
        longest_wait: float = 0.0003,
        queue: int = 4,
    ) -> None:
        options = option_texts({"backend": backend, "threads": threads, "batch": batch})
        if devices is not None:
            options["device"] = ",".join(str(int(device)) for device in devices)
        self._backend = backend
        self._guard = Guard()
        self._session = _core.GroupSession(options, int(batches_in_flight), round(longest_wait * 1e6), int(queue))
        self._streams: Dict[int, GroupStream] = {}

    def open(self, fps: FrameRate, **settings: Unpack[StreamSettings]) -> GroupStream:
        """Makes a stream. Its size and format are those of the first picture.

        Parameters
        ----------
        fps : int, float, Fraction, str or (int, int)
            Pictures a second.
        **settings
            As for `Encoder`, but for backend, threads and batch, which are the group's.

        Returns
        -------
        GroupStream

        Raises
        ------
        TypeError, ValueError
            A setting is unknown, or out of range.
        """
        for name in ("backend", "threads", "batch"):
            if name in settings:
                raise TypeError(f"{name}= is a setting of the group, not of a stream")
        return GroupStream(self, replace(make_settings(fps, **settings), backend=self._backend))

    def receive_any(self, timeout: Optional[float] = None) -> Optional[GroupResult]:
        """Waits for the next packet of any stream, for a thread that serves many.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait for it, also while nothing is on its way; without a limit by default.

        Returns
        -------
        GroupResult or None
            None: there was none.
        """
        self._check_process()
        while True:
            result = self._session.receive_any(timeout)
            if result is None:
                return None
            id, packet, problem = result
            stream = self._streams.get(id)
            if stream is not None:
                return GroupResult(stream, packet, None if problem is None else RuntimeError(problem))
            timeout = 0 if timeout is not None else None  # the stream was closed meanwhile

    def __aiter__(self) -> AsyncIterator[GroupResult]:
        """The packets of all streams as they come, without an end: leave the loop when you have them all."""
        return self._results()

    def _check_process(self) -> None:
        with self._guard:
            pass

    async def _results(self) -> AsyncIterator[GroupResult]:
        while True:
            result = self.receive_any(0)
            if result is None:
                await readable(self._session.ready_descriptor())
            else:
                yield result
