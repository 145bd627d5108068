"""An audio track whose packets are coded already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Tuple

from . import _core


@dataclass(frozen=True)
class Audio:
    """Coded audio for an MP4 file.

    Parameters
    ----------
    codec : {"aac", "opus"}
    config : bytes
        aac: the AudioSpecificConfig; opus: the header "OpusHead". PyAV has both as `stream.codec_context.extradata`.
    sample_rate : int
        Samples a second, 48000 for opus. Times count in 1 / sample_rate seconds.
    channels : int
    packets : iterable of (bytes, int, int)
        Data, pts and duration of each packet, in order. What lies before pts 0 (an encoder's priming) is not played.
    """

    codec: str
    config: bytes
    sample_rate: int
    channels: int
    packets: Iterable[Tuple[bytes, int, int]]

    def track(self) -> _core.AudioTrack:
        return _core.AudioTrack(self.codec, bytes(self.config), self.sample_rate, self.channels)
