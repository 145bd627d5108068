"""Single packets: Encoder."""

from __future__ import annotations

from typing import Any, AsyncIterable, AsyncIterator, Iterable, Iterator, List, Optional, Sequence, Union

from . import _core
from .calls import _is_array
from .readiness import readable
from .session import Session
from .settings import FrameRate, documented, make_settings


class Packets:
    """The packets of a clip: iterate over them with `for` or, in an event loop, with `async for`."""

    def __init__(self, encoder: "Encoder", frames: Any) -> None:
        self._encoder = encoder
        self._frames = frames
        self._plain: Optional[Iterator[_core.Packet]] = None
        self._async: Optional[AsyncIterator[_core.Packet]] = None

    def __iter__(self) -> "Packets":
        return self

    def __next__(self) -> _core.Packet:
        if self._plain is None:
            self._plain = self._run()
        return next(self._plain)

    def __aiter__(self) -> "Packets":
        return self

    async def __anext__(self) -> _core.Packet:
        if self._async is None:
            self._async = self._run_in_event_loop()
        return await self._async.__anext__()

    def _run(self) -> Iterator[_core.Packet]:
        if hasattr(self._frames, "__aiter__"):
            raise TypeError("the frames come from an asynchronous iterable: use `async for`")
        for chunk in [self._frames] if _is_array(self._frames) else self._frames:
            yield from self._encoder.send(chunk)
        yield from self._encoder.flush()

    async def _run_in_event_loop(self) -> AsyncIterator[_core.Packet]:
        session = self._encoder._session
        async for chunk in _chunks(self._frames):
            array = session.import_frames(chunk)
            array.copy()
            times = session.begin(array, None)
            sent = 0
            while sent < len(times):
                sent = session.encoder.send_without_waiting(array, times, sent)
                session.encoder.receive_ready()
                for packet in session.take():
                    yield packet
                if sent < len(times):
                    await readable(session.encoder.ready_descriptor())
        if not session.is_open:
            return
        session.end_clip()
        while True:
            session.encoder.receive_ready()
            for packet in session.take():
                yield packet
            if session.encoder.waiting == 0:
                return
            await readable(session.encoder.ready_descriptor())


async def _chunks(frames: Any) -> AsyncIterator[Any]:
    if hasattr(frames, "__aiter__"):
        async for chunk in frames:
            yield chunk
    else:
        for chunk in [frames] if _is_array(frames) else frames:
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

    def __init__(self, fps: FrameRate, **settings: Any) -> None:
        self._session = Session(make_settings(fps, **settings))

    def send(
        self,
        frames: Any,
        pts: Optional[Sequence[int]] = None,
        *,
        qps: Optional[Sequence[Optional[int]]] = None,
        copy: bool = True,
    ) -> List[_core.Packet]:
        """Sends frames and returns the packets that are ready.

        Parameters and errors are those of `VideoWriter.write`.
        """
        array = self._session.import_frames(frames)
        if copy:
            array.copy()
        self._session.send(array, pts, qps=qps)
        return self._session.take()

    def flush(self) -> List[_core.Packet]:
        """Ends the clip and returns the packets that are left."""
        return self._session.flush()

    def packets(self, frames: Union[Any, Iterable[Any], AsyncIterable[Any]]) -> Packets:
        """Encodes a clip, and yields a `Packet` for each picture.

        The first packet has the parameter sets before its picture.

        Parameters
        ----------
        frames : array, or iterable or asynchronous iterable of arrays

        Returns
        -------
        Packets
            For `for`, or for `async for`, which leaves the event loop free while pictures are encoded.
        """
        return Packets(self, frames)

    def reconfigure(self, **changes: Any) -> None:
        """Changes settings. What is not given stays as it is.

        Parameters
        ----------
        qp, crf, bitrate, max_bitrate, buffer_bits, max_frame_bytes : number
            From the next picture on. Within a clip, only those that the encoder was made with can change.
        preset : {"fast", "balanced", "best"}
            From the next clip on: only before the first frame, or after the last packet of a clip.

        Raises
        ------
        TypeError, ValueError
            Another setting, a value that is out of range, or a preset within a clip. Nothing has changed then.
        """
        self._session.reconfigure(**changes)

    @property
    def dropped(self) -> int:
        """Pictures of the clip that `on_overflow="drop"` has left out so far."""
        return self._session.dropped

    @property
    def extradata(self) -> bytes:
        """SPS and PPS in Annex B form, once frames have been sent."""
        return self._session.encoder.headers

    @property
    def backend(self) -> str:
        """"cuda" or "cpu", once frames have been sent."""
        return self._session.encoder.backend

    @property
    def profile(self) -> str:
        """"baseline", "main" or "high", once frames have been sent: what `profile="auto"` became."""
        return self._session.encoder.profile

    @property
    def cabac(self) -> bool:
        """Whether CABAC codes the pictures, and not CAVLC, once frames have been sent."""
        return self._session.encoder.cabac
