"""Audio tracks: packets that are coded already, or samples that PyAV encodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable, Optional, Tuple, Union

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
        samples : array
            Floats in [-1, 1] or integers of 8, 16 or 32 bits, of shape (N,), (N, channels) or (channels, N), with one or
            two channels: of NumPy, PyTorch, CuPy or JAX, or lists of numbers.
        sample_rate : int
            48000, 24000, 16000, 12000 or 8000 for opus.
        codec : {"aac", "opus"}, default "aac"
        bit_rate : int, optional
            Bits a second; 64000 a channel by default.

        Raises
        ------
        TypeError, ValueError
            Samples of another kind or shape, a rate that the codec does not have.
        ImportError
            PyAV is not installed.

        Examples
        --------
        >>> cu264.write_video("clip.mp4", frames, 25, audio=cu264.Audio.encode(waveform, 48000))
        """
        av = import_av("Audio.encode")
        import numpy as np

        if codec not in ("aac", "opus"):
            raise ValueError(f"codec must be aac or opus, not {codec!r}")
        array = np.atleast_2d(_host_array(samples))
        if array.ndim != 2 or array.size == 0:
            raise ValueError(f"samples must have shape (N,), (N, channels) or (channels, N), not {np.shape(samples)}")
        if array.shape[0] > array.shape[1]:
            array = array.T
        if array.shape[0] > 2:
            raise ValueError(f"samples have {array.shape[0]} channels, but must have 1 or 2")
        if array.dtype == np.uint8:  # as WAV files have it
            array = (array.astype(np.float32) - 128) / 128
        elif array.dtype in (np.int8, np.int16, np.int32):
            array = array / np.float32(np.iinfo(array.dtype).max + 1)
        elif not np.issubdtype(array.dtype, np.floating):
            raise TypeError(f"samples must be floating-point numbers, int16, int32, int8 or uint8, not {array.dtype}")
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


#: What calls take for `audio=`: a track, or samples and their rate, in either order.
AudioInput = Union[Audio, Tuple[Any, Any]]


def track_of(audio: Optional[AudioInput]) -> Optional[Audio]:
    """The track that a caller means."""
    if audio is None or isinstance(audio, Audio):
        return audio
    if isinstance(audio, tuple) and len(audio) == 2:
        samples, rate = audio
        if isinstance(samples, (int, float)):  # as scipy.io.wavfile.read returns it
            samples, rate = rate, samples
        return Audio.encode(samples, int(rate))
    raise TypeError(f"audio must be a cu264.Audio or (samples, sample rate), not {type(audio).__name__}")


def _host_array(samples: Any) -> Any:
    """Samples as an array of NumPy: those of a tensor that has gradients, or lies on a device, are copied."""
    import numpy as np

    if hasattr(samples, "detach"):  # PyTorch
        samples = samples.detach().cpu()
        return samples.float().numpy() if samples.is_floating_point() else samples.numpy()
    if type(samples).__module__.partition(".")[0] == "cupy":
        samples = samples.get()
    return np.asarray(samples)
