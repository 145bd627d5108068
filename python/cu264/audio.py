"""Audio tracks: packets that are coded already, or samples that PyAV encodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Optional, Tuple

from . import _core


def import_av(purpose: str) -> Any:
    """PyAV, which is not needed otherwise."""
    try:
        import av
    except ImportError as error:
        raise ImportError(f"{purpose} needs PyAV: pip install av") from error
    return av


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

    @classmethod
    def encode(cls, samples: Any, sample_rate: int, *, codec: str = "aac", bit_rate: Optional[int] = None) -> Audio:
        """Encodes samples with PyAV, which must be installed.

        Parameters
        ----------
        samples : numpy.ndarray
            Floats in [-1, 1] or int16, of shape (N,), (N, channels) or (channels, N).
        sample_rate : int
            48000, 24000, 16000, 12000 or 8000 for opus.
        codec : {"aac", "opus"}, default "aac"
        bit_rate : int, optional
            Bits a second; 64000 a channel by default.

        Examples
        --------
        >>> cu264.write_video("clip.mp4", frames, 25, audio=cu264.Audio.encode(waveform, 48000))
        """
        av = import_av("Audio.encode")
        import numpy as np

        if codec not in ("aac", "opus"):
            raise ValueError(f"codec must be aac or opus, not {codec!r}")
        array = np.atleast_2d(np.asarray(samples))
        if array.ndim != 2 or array.size == 0:
            raise ValueError(f"samples must have shape (N,), (N, channels) or (channels, N), not {np.shape(samples)}")
        if array.shape[0] > array.shape[1]:
            array = array.T
        if array.shape[0] > 2:
            raise ValueError(f"samples have {array.shape[0]} channels, but must have 1 or 2")
        if array.dtype == np.int16:
            array = array / np.float32(32768)
        elif not np.issubdtype(array.dtype, np.floating):
            raise TypeError(f"samples must be floating-point numbers or int16, not {array.dtype}")
        array = np.ascontiguousarray(array, np.float32)
        channels = len(array)
        layout = "mono" if channels == 1 else "stereo"
        context = av.CodecContext.create("libopus" if codec == "opus" else "aac", "w")
        context.sample_rate, context.layout = int(sample_rate), layout
        context.format = "flt" if codec == "opus" else "fltp"
        context.bit_rate = bit_rate or 64000 * channels
        context.open()
        # Packed samples lie side by side, planar ones channel by channel.
        plane = np.ascontiguousarray(array.T).reshape(1, -1) if codec == "opus" else array
        frame = av.AudioFrame.from_ndarray(plane, format=context.format.name, layout=layout)
        frame.sample_rate, frame.pts = int(sample_rate), 0
        packets = [*context.encode(frame), *context.encode(None)]
        coded = [
            (bytes(p), round(p.pts * p.time_base * sample_rate), round(p.duration * p.time_base * sample_rate))
            for p in packets
        ]
        return cls(codec, bytes(context.extradata), int(sample_rate), channels, coded)
