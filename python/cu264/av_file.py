"""Containers that this package does not write itself, through PyAV: Matroska and MPEG transport streams."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Sequence

from . import _core
from .audio import Audio, import_av

FORMATS = {"mkv": "matroska", "ts": "mpegts"}


class AvFile:
    """A file whose packets PyAV muxes; it is written to an object as packets come."""

    def __init__(
        self, file: Any, container: str, encoder: _core.EncoderSession, fps: Fraction, time_base: Fraction, audio: Any
    ) -> None:
        self._av = import_av(f"container={container!r}")
        self._time_base = time_base
        self._container = self._av.open(file, "w", format=FORMATS[container])
        self._video = self._container.add_mux_stream(
            "h264", rate=fps, width=encoder.width, height=encoder.height, time_base=time_base
        )
        self._audio = None if audio is None else self._audio_stream(audio)

    def write(self, packets: Sequence[_core.Packet], duration: int) -> None:
        for packet in packets:
            self._mux(packet.data, packet.pts, duration, self._time_base, self._video)

    def write_audio(self, data: bytes, pts: int, duration: int) -> None:
        self._mux(data, pts, duration, Fraction(1, self._sample_rate), self._audio)

    def finish(self) -> None:
        self._container.close()

    def _mux(self, data: bytes, pts: int, duration: int, time_base: Fraction, stream: Any) -> None:
        packet = self._av.Packet(data)
        packet.pts = packet.dts = pts
        packet.duration, packet.time_base = duration, time_base
        packet.stream, packet.is_keyframe = stream, True
        self._container.mux(packet)

    def _audio_stream(self, audio: Audio) -> Any:
        """A stream with the codec's parameters: that of an encoder, which is not used."""
        self._sample_rate = audio.sample_rate
        stream = self._container.add_stream("libopus" if audio.codec == "opus" else "aac", rate=audio.sample_rate)
        context = stream.codec_context
        context.layout = "mono" if audio.channels == 1 else "stereo" if audio.channels == 2 else f"{audio.channels}c"
        context.open()
        context.extradata = audio.config
        return stream
