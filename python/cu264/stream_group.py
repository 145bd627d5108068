"""Many streams at once: StreamGroup."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any, AsyncIterator, Dict, NamedTuple, Optional, Sequence

from . import _core
from .readiness import readable
from .session import checked_qps, import_frames, kind_of
from .settings import FrameRate, Settings, make_settings, option_texts, stream_format


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
        self._lock = threading.Lock()  # of those who submit
        self._id: Optional[int] = None
        self._kind: Dict[str, Any] = {}  # of the first picture, which others have to share
        self._last_pts: Optional[int] = None
        self._closed = False

    def submit(
        self,
        picture: Any,
        pts: Optional[int] = None,
        timeout: Optional[float] = None,
        *,
        qp: Optional[int] = None,
        copy: bool = True,
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

        Returns
        -------
        bool
            Whether the picture was taken. False: there was no room within the timeout.
        """
        with self._lock:
            frames = import_frames(picture, self._settings)
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
            if self._last_pts is not None and pts <= self._last_pts:
                raise ValueError("pts must increase from picture to picture")
            stream = self._open(frames)
            if copy:
                frames.copy()
            taken = self._group._session.submit(stream, frames, pts, quantiser, timeout)
            if taken:
                self._last_pts = pts
            return taken

    def receive(self, timeout: Optional[float] = None) -> Optional[_core.Packet]:
        """The stream's next packet.

        Waits for it, at most `timeout` seconds. None: there is none yet, or no picture of the stream is on its way.
        Raises RuntimeError for a picture that could not be encoded; the picture after it follows.
        """
        self._check_open()
        return None if self._id is None else self._group._session.receive(self._id, timeout)

    def flush(self) -> None:
        """Ends the clip: the next picture begins another one, once the packets of this one have come."""
        self._check_open()
        with self._lock:
            if self._id is not None:
                self._group._session.flush(self._id)
            self._last_pts = None

    def close(self) -> None:
        """Ends the stream, and drops what was not received of it. Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._id is not None:
            self._group._session.close(self._id)
            self._group._streams.pop(self._id, None)

    @property
    def extradata(self) -> bytes:
        """SPS and PPS in Annex B form, once a picture was submitted."""
        return self._group._session.headers(self._opened())

    @property
    def backend(self) -> str:
        """"cuda" or "cpu", once a picture was submitted."""
        return self._group._session.backend(self._opened())

    @property
    def dropped(self) -> int:
        """Pictures of the clip that `on_overflow="drop"` has left out so far."""
        return self._group._session.dropped(self._opened())

    def __enter__(self) -> "GroupStream":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("the stream is closed: open another one")

    def _opened(self) -> int:
        self._check_open()
        if self._id is None:
            raise ValueError("there is no stream yet: submit a picture first")
        return self._id

    def _open(self, frames: _core.FrameArray) -> int:
        self._check_open()
        if self._id is None:
            device = frames.device if frames.device is not None else self._settings.device
            format = stream_format(self._settings, frames.width, frames.height, frames.format, device)
            self._id = self._group._session.open(format)
            self._group._streams[self._id] = self
            self._kind = kind_of(frames)
        return self._id


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
        self._session = _core.GroupSession(options, int(batches_in_flight), round(longest_wait * 1e6), int(queue))
        self._streams: Dict[int, GroupStream] = {}

    def open(self, fps: FrameRate, **settings: Any) -> GroupStream:
        """Makes a stream. Its size and format are those of the first picture.

        Parameters
        ----------
        fps : int, float, Fraction, str or (int, int)
            Pictures a second.
        **settings
            As for `Encoder`, but for backend, threads and batch, which are the group's.
        """
        for name in ("backend", "threads", "batch"):
            if name in settings:
                raise TypeError(f"{name}= is a setting of the group, not of a stream")
        return GroupStream(self, replace(make_settings(fps, **settings), backend=self._backend))

    def receive_any(self, timeout: Optional[float] = None) -> Optional[GroupResult]:
        """The next packet of any stream, for a thread that serves many.

        Waits for it, at most `timeout` seconds; also while nothing is on its way. None: there was none.
        """
        result = self._session.receive_any(timeout)
        if result is None:
            return None
        id, packet, problem = result
        stream = self._streams.get(id)
        if stream is None:  # closed meanwhile
            return self.receive_any(0 if timeout is not None else None)
        return GroupResult(stream, packet, None if problem is None else RuntimeError(problem))

    def __aiter__(self) -> AsyncIterator[GroupResult]:
        """The packets of all streams as they come, without an end: leave the loop when you have them all."""
        return self._results()

    async def _results(self) -> AsyncIterator[GroupResult]:
        while True:
            result = self.receive_any(0)
            if result is None:
                await readable(self._session.ready_descriptor())
            else:
                yield result
