"""Single packets: Encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Iterator, List, Optional, Sequence

from . import _core
from .arrays import FramesOrAsyncChunks, FramesOrChunks, each_array
from .guard import Guard
from .readiness import readable
from .session import Session
from .settings import Changes, FrameRate, VideoSettings, documented, make_settings

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Packets:
    """The packets of a clip: iterate over them with `for` or, in an event loop, with `async for`.

    Any thread may take the next one. The clip ends with its last packet, or when the encoder is given other frames.
    """

    def __init__(self, encoder: "Encoder", frames: Any) -> None:
        self._encoder = encoder
        self._frames = frames
        self._plain: Optional[Iterator[_core.Packet]] = None
        self._async: Optional[AsyncIterator[_core.Packet]] = None

    def __iter__(self) -> "Packets":
        return self

    def __next__(self) -> _core.Packet:
        with self._encoder._guard:
            if self._plain is None:
                self._encoder._begin_clip(self)
                self._plain = self._run()
            return next(self._plain)

    def __aiter__(self) -> "Packets":
        return self

    async def __anext__(self) -> _core.Packet:
        if self._async is None:
            self._encoder._begin_clip(self)
            self._async = self._run_in_event_loop()
        return await self._async.__anext__()

    def _check(self) -> None:
        if self._encoder._clip is not self:
            raise ValueError("the encoder has gone on to another clip: this one has no more packets")

    def _run(self) -> Iterator[_core.Packet]:
        if hasattr(self._frames, "__aiter__"):
            raise TypeError("the frames come from an asynchronous iterable: use `async for`")
        session = self._encoder._session
        for chunk in each_array(self._frames):
            self._check()
            for _ in session.write(chunk):
                for packet in session.take():
                    yield packet
                    self._check()
        self._check()
        for packet in session.flush():
            yield packet
            self._check()
        self._encoder._clip = None

    async def _run_in_event_loop(self) -> AsyncIterator[_core.Packet]:
        guard, session = self._encoder._guard, self._encoder._session
        async for chunk in _chunks(self._frames):
            with guard:
                self._check()
                array = session.import_frames(chunk)
                array.copy()
                times = session.begin(array, None)
            sent = 0
            while sent < len(times):
                with guard:
                    self._check()
                    sent = session.encoder.send_without_waiting(array, times, sent)
                    session.encoder.receive_ready()
                    packets = session.take()
                for packet in packets:
                    yield packet
                    self._check()
                if sent < len(times):
                    await readable(session.encoder.ready_descriptor())
        with guard:
            self._check()
            if not session.is_open:
                self._encoder._clip = None
                return
            session.end_clip()
        while True:
            with guard:
                self._check()
                session.encoder.receive_ready()
                packets = session.take()
                done = session.encoder.waiting == 0
            for packet in packets:
                yield packet
                self._check()
            if done:
                self._encoder._clip = None
                return
            await readable(session.encoder.ready_descriptor())


async def _chunks(frames: Any) -> AsyncIterator[Any]:
    if hasattr(frames, "__aiter__"):
        async for chunk in frames:
            yield chunk
    else:
        for chunk in each_array(frames):
            yield chunk


@documented
class Encoder:
    """Frames in, coded pictures out, for programs that pack them themselves.

    An encoder may be used again: the frames after `flush`, or after all packets of `packets`, are another clip, which
    may have another size.

    Parameters
    ----------
    fps : int, float, Fraction, str or (int, int)
        Pictures a second.
    SETTINGS

    Examples
    --------
    >>> encoder = cu264.Encoder(fps=30, qp=24)
    >>> for packet in encoder.packets(frames):
    ...     send(packet.data, packet.pts)
    """

    def __init__(self, fps: FrameRate, **settings: Unpack[VideoSettings]) -> None:
        self._guard = Guard()
        self._session = Session(make_settings(fps, **settings))
        self._clip: Optional[Packets] = None  # whose frames are being encoded

    def send(
        self,
        frames: FramesOrChunks,
        pts: Optional[Sequence[int]] = None,
        *,
        qps: Optional[Sequence[Optional[int]]] = None,
        copy: bool = True,
        durations: Optional[Sequence[int]] = None,
        keys: Optional[Sequence[bool]] = None,
    ) -> List[_core.Packet]:
        """Sends frames.

        Parameters and errors are those of `VideoWriter.write`. What `packets` had not yielded of a clip is dropped.

        Returns
        -------
        list of Packet
            Those that are ready, which may belong to frames of earlier calls.
        """
        with self._guard:
            self._begin_clip(None)
            for _ in self._session.write(frames, pts, qps, copy, durations, keys):
                pass
            return self._session.take()

    def flush(self) -> List[_core.Packet]:
        """Ends the clip.

        Returns
        -------
        list of Packet
            Those that are left of the clip.
        """
        with self._guard:
            self._clip = None
            return self._session.flush()

    def packets(self, frames: FramesOrAsyncChunks) -> Packets:
        """Encodes a clip, and yields a `Packet` for each picture.

        The first packet has the parameter sets before its picture. What was left of another clip when its loop was left
        is dropped; frames of `send` must be flushed before.

        Parameters
        ----------
        frames : array, or iterable or asynchronous iterable of arrays
            As for `VideoWriter.write`.

        Returns
        -------
        Packets
            For `for`, or for `async for`, which leaves the event loop free while pictures are encoded.

        Raises
        ------
        TypeError, ValueError
            As `VideoWriter.write`, from the loop.
        """
        return Packets(self, frames)

    def _begin_clip(self, clip: Optional[Packets]) -> None:
        """Drops the clip of a loop that was left, if frames come from somewhere else."""
        with self._guard:
            if self._clip is not None and self._clip is not clip:
                self._session.flush()
            elif self._clip is None and clip is not None and self._session.is_within_clip:
                raise ValueError("there are frames from send(): flush() ends their clip")
            self._clip = clip

    @documented
    def reconfigure(self, **changes: Unpack[Changes]) -> None:
        """Changes settings. What is not given stays as it is.

        Parameters
        ----------
        CHANGES

        Raises
        ------
        TypeError, ValueError
            Another setting, a value that is out of range, or one of the next clip's within a clip. Nothing has changed then.
        """
        with self._guard:
            self._session.reconfigure(**changes)

    @property
    def dropped(self) -> int:
        """Pictures of the clip that `on_overflow="drop"` has left out so far."""
        with self._guard:
            return self._session.dropped

    @property
    def extradata(self) -> bytes:
        """SPS and PPS in Annex B form, once frames have been sent."""
        with self._guard:
            return self._session.encoder.headers

    @property
    def backend(self) -> str:
        """"cuda" or "cpu", once frames have been sent."""
        with self._guard:
            return self._session.encoder.backend

    @property
    def profile(self) -> str:
        """"baseline", "main" or "high", once frames have been sent: what `profile="auto"` became."""
        with self._guard:
            return self._session.encoder.profile

    @property
    def cabac(self) -> bool:
        """Whether CABAC codes the pictures, and not CAVLC, once frames have been sent."""
        with self._guard:
            return self._session.encoder.cabac
