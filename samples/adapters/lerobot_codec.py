"""Data sets of LeRobot whose videos cu264 encodes, where LeRobot's own table of codecs has encoders of FFmpeg's alone.

    from lerobot_codec import Cu264EncoderConfig            # before anything is recorded
    dataset = LeRobotDataset.create(..., rgb_encoder=Cu264EncoderConfig(crf=23))

LeRobot encodes through PyAV in all places (images of an episode, frames as they come, files that are cut): this gives it
an `av` whose output files take the codec "cu264" too. Depth, decoding and other codecs are as they were.
"""
import types
from dataclasses import dataclass

import av
from lerobot.configs import RGBEncoderConfig
from lerobot.datasets import video_utils

import cu264

CODEC = "cu264"
# The names are x264's, because LeRobot notes them in the data set and codes parts of it again by them, with "h264".
PRESETS = {"veryfast": "fast", "medium": "balanced", "slow": "best"}


@dataclass
class Cu264EncoderConfig(RGBEncoderConfig):
    """As RGBEncoderConfig. `extra_options` are settings of cu264.VideoWriter, such as {"backend": "cpu"}."""

    vcodec: str = CODEC
    g: int | None = 1  # every picture is a key picture, so that any of them is decoded alone
    crf: int | float | None = 23
    preset: int | str | None = "medium"

    def resolve_vcodec(self):
        if self.vcodec != CODEC:
            raise ValueError(f"vcodec must be {CODEC!r}: use RGBEncoderConfig for {self.vcodec!r}")

    def validate(self):
        if self.preset not in PRESETS:
            raise ValueError(f"preset must be one of {', '.join(PRESETS)}, not {self.preset!r}")
        cu264.Encoder(30, **self.get_codec_options())  # which says what is wrong

    def get_codec_options(self, encoder_threads=None, as_strings=False):
        options = {"crf": self.crf, "gop": self.g, "preset": PRESETS[self.preset], "threads": encoder_threads}
        return {**self.extra_options, **{name: value for name, value in options.items() if value is not None}}


class _Output:
    """An output file of PyAV's, but for the codec "cu264", whose only stream writes the file itself."""

    def __init__(self, path, options):
        self._path, self._options = path, options
        self._file = None

    def add_stream(self, codec, rate, options=None, **others):
        if codec != CODEC:
            return self._opened().add_stream(codec, rate, options=options, **others)
        self._file = cu264.VideoWriter(self._path, rate, **(options or {}))
        return _Stream(self._file)

    def _opened(self):
        if self._file is None:
            self._file = av.open(self._path, "w", **self._options)
        return self._file

    def __getattr__(self, name):
        return getattr(self._opened(), name)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self._file is not None:
            self._file.__exit__(*exception)


class _Stream:
    """Takes frames and gives no packets. What is set of it besides, as its size, frames say themselves."""

    def __init__(self, writer):
        self._writer = writer

    def encode(self, frame=None):
        if frame is not None:
            self._writer.write(frame.to_ndarray(format="rgb24"))
        return []


class _Av(types.ModuleType):
    def __getattr__(self, name):
        return getattr(av, name)

    def open(self, file, mode="r", **options):
        return _Output(file, options) if mode == "w" else av.open(file, mode, **options)


if not isinstance(video_utils.av, _Av):
    video_utils.av = _Av("av")
