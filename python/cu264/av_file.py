"""Containers that this package does not write itself, through PyAV: Matroska and MPEG transport streams."""

from __future__ import annotations

import io
from fractions import Fraction
from typing import Any, List, Optional, Sequence, Tuple

from . import _core
from .audio import Audio, import_av
from .media_input import open_media

FORMATS = {"mkv": "matroska", "ts": "mpegts"}


class AvFile:
    """A file whose packets PyAV muxes; it is written to an object as packets come."""

    def __init__(self, file: Any, container: str, headers: bytes, time_base: Fraction, audio: Optional[Audio]) -> None:
        self._av = import_av(f"container={container!r}")
        self._headers = headers
        self._time_base = time_base
        self._container = self._av.open(file, "w", format=FORMATS[container])
        self._audio = audio
        self._audio_stream: Any = None
        self._video_stream: Any = None  # once the first picture has come
        self._early: List[Tuple[bytes, int, int]] = []  # audio from before it

    def write(self, packets: Sequence[_core.Packet], duration: int) -> None:
        for packet in packets:
            if self._video_stream is None:
                self._begin(packet.data)
            self._mux(packet.data, packet.pts, duration, self._time_base, self._video_stream, packet.keyframe)

    def write_audio(self, data: bytes, pts: int, duration: int) -> None:
        assert self._audio is not None
        if self._video_stream is None:
            self._early.append((data, pts, duration))
        else:
            self._mux(data, pts, duration, Fraction(1, self._audio.sample_rate), self._audio_stream)

    def finish(self) -> None:
        self._container.close()

    def _begin(self, picture: bytes) -> None:
        """Adds the streams. PyAV reads the picture to know the parameters of the video's."""
        with open_media(io.BytesIO(self._headers + picture), format="h264") as sample:
            self._video_stream = self._container.add_stream_from_template(sample.streams.video[0], opaque=True)
        self._video_stream.time_base = self._time_base
        if self._audio is not None:
            self._audio_stream = self._new_audio_stream(self._audio)
        for early in self._early:
            self.write_audio(*early)
        self._early = []

    def _mux(self, data: bytes, pts: int, duration: int, time_base: Fraction, stream: Any, keyframe: bool = True) -> None:
        packet = self._av.Packet(data)
        packet.pts = packet.dts = pts
        packet.duration, packet.time_base = duration, time_base
        packet.stream, packet.is_keyframe = stream, keyframe
        self._container.mux(packet)

    def _new_audio_stream(self, audio: Audio) -> Any:
        """A stream with the codec's parameters: that of an encoder, which is not used."""
        stream = self._container.add_stream("libopus" if audio.codec == "opus" else "aac", rate=audio.sample_rate)
        context = stream.codec_context
        context.layout = "mono" if audio.channels == 1 else "stereo" if audio.channels == 2 else f"{audio.channels}c"
        context.open()
        context.extradata = audio.config
        return stream
