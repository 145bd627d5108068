"""Single packets: Encoder."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, List, Optional, Sequence

from . import _core
from .calls import _is_array
from .session import Session
from .settings import FrameRate, documented, make_settings


@documented
class Encoder:
    """Frames in, coded pictures out, for programs that pack them themselves.

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
        self._flushed = False

    def send(self, frames: Any, pts: Optional[Sequence[int]] = None, *, copy: bool = True) -> List[_core.Packet]:
        """Sends frames and returns the packets that are ready; parameters and errors are those of `VideoWriter.write`."""
        if self._flushed:
            raise ValueError("the encoder was flushed: open another one")
        array = self._session.import_frames(frames)
        if copy:
            array.copy()
        self._session.send(array, pts)
        return self._session.take()

    def flush(self) -> List[_core.Packet]:
        """Ends the stream and returns the packets that are left."""
        self._flushed = True
        return self._session.flush()

    def packets(self, frames: Iterable[Any]) -> Iterator[_core.Packet]:
        """Encodes an array, or an iterable of arrays, and yields a `Packet` for each picture.

        The first packet has the parameter sets before its picture. This ends the stream.
        """
        for chunk in [frames] if _is_array(frames) else frames:
            yield from self.send(chunk)
        yield from self.flush()

    @property
    def extradata(self) -> bytes:
        """SPS and PPS in Annex B form, once frames have been sent."""
        return self._session.encoder.headers

    @property
    def backend(self) -> str:
        """"cuda" or "cpu", once frames have been sent."""
        return self._session.encoder.backend
