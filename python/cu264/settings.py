"""Checks what the caller sets, and puts it into the words of the library."""

from __future__ import annotations

import numbers
import os
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple, TypedDict, TypeVar, Union

from . import _core

if TYPE_CHECKING:
    from .protect import Encryption, Watermark

FrameRate = Union[int, float, Fraction, str, Tuple[int, int]]
_T = TypeVar("_T")


class _Settings(TypedDict, total=False):
    qp: Optional[int]
    crf: Optional[float]
    max_bitrate: Optional[float]
    buffer_bits: Optional[float]
    cbr: bool
    lookahead: Optional[int]
    max_frame_bytes: Optional[int]
    frame_bytes: Optional[int]
    on_overflow: str
    preset: str
    profile: str
    cavlc: bool
    pipeline: str
    entropy: str
    packing: str
    cqm: Optional[str]
    cqmfile: Optional[Union[str, "os.PathLike[str]"]]
    slices: int
    edge_guided: int
    edge_thresholds: str
    aq: str
    aq_strength: int
    deblock: bool
    headers: str
    sample_aspect_ratio: Optional[FrameRate]
    full_range: bool
    primaries: int
    transfer: int
    matrix: int
    time_base: Optional[FrameRate]
    timed_bitrate: bool
    layout: Optional[str]
    pixel_format: Optional[str]
    value_range: Optional[Tuple[float, float]]
    device: Optional[int]
    encryption: Optional["Encryption"]
    watermark: Optional["Watermark"]


class StreamSettings(_Settings, total=False):
    """The settings of a stream of a group: all but those of the group itself."""

    bitrate: Optional[float]


class VideoSettings(StreamSettings, total=False):
    """The settings of every call that encodes, for type checkers; the calls' docstrings say what they mean."""

    backend: str
    batch: int
    threads: int


class ExportSettings(_Settings, total=False):
    """The same without a bitrate, for a call that has one of its own."""

    backend: str
    batch: int
    threads: int


class Changes(TypedDict, total=False):
    """What `Encoder.reconfigure` changes."""

    qp: Optional[int]
    crf: Optional[float]
    bitrate: Optional[float]
    max_bitrate: Optional[float]
    buffer_bits: Optional[float]
    max_frame_bytes: Optional[int]
    preset: Optional[str]


def rational(value: Any, name: str) -> Fraction:
    """A positive fraction from 25, 29.97, "30000/1001", (30000, 1001) or a Fraction."""
    accepted = f"{name} must be a positive number such as 25, 29.97, '30000/1001' or (30000, 1001), not {value!r}"
    try:
        if isinstance(value, tuple):
            result = Fraction(*value)
        elif isinstance(value, float):
            result = _meant(Fraction(value).limit_denominator(1001))
        elif isinstance(value, (str, numbers.Rational)) and not isinstance(value, bool):
            result = Fraction(value)
            if isinstance(value, str) and "." in value:
                result = _meant(result)
        elif hasattr(value, "__float__") and not isinstance(value, bool):  # NumPy's numbers
            result = _meant(Fraction(float(value)).limit_denominator(1001))
        else:
            raise TypeError(accepted)
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise ValueError(accepted) from error
    if result <= 0 or result.numerator >= 2**31 or result.denominator >= 2**31:
        raise ValueError(accepted)
    return result


def _meant(rate: Fraction) -> Fraction:
    """The rate that a decimal number stands for: 29.97 is 30000/1001, and so are 23.976, 23.98, 59.94 and the like."""
    nominal = round(rate)
    if rate == nominal or (nominal % 12 and nominal % 15) or abs(rate - Fraction(nominal * 1000, 1001)) > Fraction(1, 180):
        return rate
    return Fraction(nominal * 1000, 1001)


def _whole_number(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    return str(int(value))


def _number(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, not {value!r}")
    return str(float(value))


def _thousands(name: str, value: Any) -> str:
    """Bits as the whole thousands that the library takes."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number of bits, not {value!r}")
    if not 1000 <= float(value) < 2**62:
        raise ValueError(f"{name} must be at least 1000 bits, not {value!r}")
    return str(round(float(value) / 1000))


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {value!r}")
    return value


def _list_text(name: str, value: Any) -> str:
    """The text of a file of scaling lists, as far as the library takes it."""
    with open(value, encoding="latin-1") as file:
        text = file.read(65537)
    if "=" not in text:
        raise ValueError(f"{name}: {value} has no scaling lists, such as INTRA4X4_LUMA = and 16 numbers")
    return text


def switch(name: str, value: Any) -> bool:
    """A bool, as Python or NumPy has it."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise TypeError(f"{name} must be True or False, not {value!r}")


def _switch(name: str, value: Any) -> str:
    return "on" if switch(name, value) else "off"


@dataclass(frozen=True)
class _Option:
    """A setting that is an option of the library."""

    text: Callable[[str, Any], str]  # from its name and value to the library's text
    default: Any = None  # None: the library's own
    name: Optional[str] = None  # the library's, where it is not ours with hyphens
    changes: bool = False  # `Encoder.reconfigure` takes it


#: The options of rate control: the one list of them.
_RATE = {
    "qp": _Option(_whole_number, changes=True),
    "crf": _Option(_number, changes=True),
    "bitrate": _Option(_thousands, changes=True),
    "max_bitrate": _Option(_thousands, name="maxrate", changes=True),
    "buffer_bits": _Option(_thousands, name="bufsize", changes=True),
    "cbr": _Option(_switch),
    "lookahead": _Option(_whole_number),
    "max_frame_bytes": _Option(_whole_number, changes=True),
    "frame_bytes": _Option(_whole_number),
    "on_overflow": _Option(_text),
}
_OPTIONS = {
    **_RATE,
    "preset": _Option(_text, "balanced", changes=True),
    "profile": _Option(_text),
    "cavlc": _Option(_switch),
    "pipeline": _Option(_text),  # before those that it sets, which may be given besides
    "entropy": _Option(_text),
    "packing": _Option(_text),
    "cqm": _Option(_text),
    "cqmfile": _Option(_list_text, name="cqm"),
    "slices": _Option(_whole_number),
    "edge_guided": _Option(_whole_number),
    "edge_thresholds": _Option(_text),
    "aq": _Option(_text),
    "aq_strength": _Option(_whole_number),
    "deblock": _Option(_switch),
    "backend": _Option(_text, "auto"),
    "batch": _Option(_whole_number, 0),
    "threads": _Option(_whole_number),
    "headers": _Option(_text),
}
CHANGEABLE = tuple(name for name, option in _OPTIONS.items() if option.changes)


def option_texts(settings: Dict[str, Any]) -> Dict[str, str]:
    """Settings as options by the names that the library gives them. A setting of None is left out."""
    return {
        _OPTIONS[name].name or name.replace("_", "-"): _OPTIONS[name].text(name, value)
        for name, value in settings.items()
        if value is not None
    }


@dataclass(frozen=True)
class Settings:
    """The settings that every call takes; `make_settings` has checked them."""

    fps: Fraction
    time_base: Fraction  # seconds a unit of pts
    timed_bitrate: bool
    options: Tuple[Tuple[str, str], ...]
    colour: Tuple[int, int, int]
    layout: Optional[str]
    pixel_format: Optional[str]
    value_range: Optional[Tuple[float, float]]
    device: Optional[int]
    backend: str
    protection: Tuple[Any, ...]  # protect.Encryption and protect.Watermark

    @property
    def duration(self) -> int:
        """Returns how long a picture is shown, in units of the time base."""
        return max(1, round(1 / self.fps / self.time_base))

    def for_container(self, container: str) -> Settings:
        """Bare and transport streams have parameter sets before every picture: any part of them can be played."""
        options = dict(self.options)
        if container in ("mp4", "fmp4") and (options.get("cbr") == "on" or options.get("frame-bytes", "0") != "0"):
            raise ValueError("cbr= and frame_bytes= make filler data, which MP4 does not allow: use another container")
        return replace(self, options=(*self.options, ("headers", "every"))) if container in ("h264", "ts") else self


def make_settings(
    fps: FrameRate,
    *,
    sample_aspect_ratio: Any = None,
    full_range: bool = False,
    primaries: int = 2,
    transfer: int = 2,
    matrix: int = 2,
    time_base: Any = None,
    timed_bitrate: bool = False,
    layout: Optional[str] = None,
    pixel_format: Optional[str] = None,
    value_range: Optional[Tuple[float, float]] = None,
    device: Optional[int] = None,
    encryption: Any = None,
    watermark: Any = None,
    **given: Any,
) -> Settings:
    """Checks the settings of every call: those above, and the options of the library."""
    for name in given:
        if name not in _OPTIONS:
            raise TypeError(f"unexpected keyword argument {name!r}")
    if given.get("cqm") is not None and given.get("cqmfile") is not None:
        raise TypeError("cqm= and cqmfile= both give the scaling lists: give one of them")
    if sum(given.get(name) is not None for name in ("qp", "crf", "bitrate")) > 1:
        raise TypeError("qp=, crf= and bitrate= exclude one another: give one of them")
    rate = rational(fps, "fps")
    if value_range is not None and tuple(value_range) not in ((0, 1), (-1, 1), (0, 255)):
        raise ValueError(f"value_range must be (0, 1), (-1, 1) or (0, 255), not {value_range!r}")
    defaults = {name: option.default for name, option in _OPTIONS.items()}
    options = option_texts({**defaults, **{name: value for name, value in given.items() if value is not None}})
    options["range"] = "full" if switch("full_range", full_range) else "limited"
    options["fps"] = f"{rate.numerator}/{rate.denominator}"
    if sample_aspect_ratio is not None:
        ratio = rational(sample_aspect_ratio, "sample_aspect_ratio")
        options["sar"] = f"{ratio.numerator}:{ratio.denominator}"
    colour = (int(primaries), int(transfer), int(matrix))
    settings = Settings(
        fps=rate,
        time_base=1 / rate if time_base is None else rational(time_base, "time_base"),
        timed_bitrate=switch("timed_bitrate", timed_bitrate),
        options=tuple(options.items()),
        colour=colour,
        layout=layout,
        pixel_format={"rgba": "rgb", "bgra": "bgr"}.get(pixel_format, pixel_format) if pixel_format else None,
        value_range=None if value_range is None else (float(value_range[0]), float(value_range[1])),
        device=None if device is None else int(_whole_number("device", device)),
        backend=options["backend"],
        protection=_protection(encryption, watermark),
    )
    stream_format(settings, 16, 16, "i420", settings.device).check()  # so that mistakes show before the first frame
    return settings


def stream_format(
    settings: Settings, width: int, height: int, pixel_format: str, device: Optional[int], batch: Optional[int] = None
) -> _core.StreamFormat:
    options = dict(settings.options, size=f"{width}x{height}")
    options["input-format"] = pixel_format
    if device is not None:
        options["device"] = str(device)
    if batch is not None:
        options["batch"] = str(batch)
    time_base = (settings.time_base.numerator, settings.time_base.denominator)
    made = _core.StreamFormat(options, time_base, settings.colour, settings.timed_bitrate)
    for each in settings.protection:
        each.apply(made)
    return made


def _protection(encryption: Any, watermark: Any) -> Tuple[Any, ...]:
    if encryption is None and watermark is None:
        return ()
    from . import protect  # here, because it is seldom wanted

    for name, value, kind in (
        ("encryption", encryption, protect.Encryption),
        ("watermark", watermark, protect.Watermark),
    ):
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"{name} must be a cu264.protect.{kind.__name__}, not {type(value).__name__}")
    return tuple(each for each in (encryption, watermark) if each is not None)


#: The part of every docstring that is the same.
SETTINGS_DOC = """
    qp : int, default 27
        Quantiser, from 0 (best) to 51 (smallest), unless one of the next two is given.
    crf : float, optional
        Constant quality on x264's scale, 0 to 51: quantisers follow from the pictures.
    bitrate : int, optional
        Bits a second (whole thousands), within a buffer.
    max_bitrate, buffer_bits : int, optional
        The rate that fills the buffer (`bitrate`), and its size (one second). They also limit `qp` and `crf`.
    cbr : bool, default False
        `bitrate` is kept exactly, by filler data where pictures need fewer bits. Not in MP4.
    lookahead : int, default 40
        Pictures behind each one that `bitrate` looks at, up to 250. Packets come so many pictures later: 0 is for live streams.
    max_frame_bytes : int, optional
        No picture has more bytes, headers included.
    frame_bytes : int, optional
        Every picture has exactly so many bytes, by filler data. Not in MP4.
    on_overflow : {"error", "drop"}, default "error"
        A picture that no quantiser makes as small as a limit asks raises RuntimeError, or is left out.
    preset : {"fast", "balanced", "best"}, default "balanced"
        How thoroughly modes are searched; `best` gives the smallest files.
    profile : {"auto", "baseline", "main", "high"}, default "auto"
        auto is high with CABAC and the 8x8 transform, with CAVLC where encryption or a watermark needs it; main has CABAC
        without that transform; baseline is Constrained Baseline, which takes more bits and is encoded fastest.
    cavlc : bool, default False
        CAVLC also where the profile allows CABAC. What marks finished streams, and encrypts more than signs, needs it.
    pipeline : {"production", "published"}, default "production"
        published sets the papers' stages: `entropy` cavlcu, `packing` gvle and `edge_guided` 2.
    entropy : {"production", "cavlcu"}, default "production"
        Which kernels code the levels on a GPU; cavlcu, the paper's, codes CAVLC. The bytes are those of production with `cavlc`.
    packing : {"production", "gvle"}, default "production"
        Which kernels pack the slices on a GPU; gvle, the paper's steps, packs CAVLC. The bytes are those of production with `cavlc`.
    cqm : {"flat", "jvt"}, default "flat"
        Scaling lists of the profile high; jvt: the standard's.
    cqmfile : path, optional
        A file of scaling lists in the form of the JM and x264.
    value_range : (0, 1), (-1, 1) or (0, 255), default (0, 1)
        What black and white are in frames of floating-point numbers. Values outside are clamped, with a warning if they
        are most; NaN is black. (0, 255) is for frames in host memory.
    layout : str, optional
        The dimensions of the arrays in order, in letters T (time), H, W and C (channels), for example "TCHW". Without
        it they are found from the shape: a dimension of 1, 3 or 4 at the end or after T holds the channels. The layout
        of the first pictures is that of all. Shapes that may be read in two ways, as (3, H, W), are refused until the
        layout is known or `pixel_format` decides.
    pixel_format : {"rgb", "bgr", "gray", "nv12", "i420"}, optional
        Order and meaning of the channels; rgb or gray by default, from their number. A fourth channel is not read.
        Frames of nv12 and i420 are uint8 of shape (T, H * 3 / 2, W), and are coded as they are.
    full_range : bool, default False
        Whether Y, Cb and Cr use all values from 0 to 255 (RGB is converted so; nv12 and i420 are tagged so).
    primaries, transfer, matrix : int, default 2
        Code points of ITU-T H.273 for the stream's tags; 2 is "unspecified". RGB is converted by `matrix`: 1 (BT.709), 5
        or 6 (BT.601); unspecified becomes BT.709 from 720 lines on and BT.601 below.
    slices : int, default 1
        Slices a picture.
    edge_guided : int, default 0
        0 to 3: gives edges more bits, as strongly as the number says. The edges are those of `cu264.edges`.
    edge_thresholds : str, default "distributed"
        How edge_guided finds edges: "distributed", "rows" or "frame", each also with "-0.01" for finer candidates, or
        "LOW,HIGH" for plain Canny with these thresholds, as "0.08,0.19".
    aq : {"auto", "variance", "steps", "edges", "off"}, default "auto"
        variance gives more bits to macroblocks of low variance; auto does so with crf and bitrate. steps gives more to
        those with steps of brightness, which is cheaper than edges; edges is edge_guided=2.
    aq_strength : int, default 2
        1 to 3: how strongly aq="steps" and aq="edges" work.
    deblock : bool, default True
        The loop filter.
    sample_aspect_ratio : fraction, optional
        Shape of a sample, for example "16/11".
    time_base : fraction, optional
        Seconds a unit of pts and durations; 1 / fps by default.
    timed_bitrate : bool, default False
        For variable frame rates: `bitrate` counts how long each picture is shown, instead of `fps` pictures a second. Such a
        stream has no buffer: neither `max_bitrate`, `buffer_bits` nor `cbr`.
    backend : {"auto", "cuda", "cpu"}, default "auto"
        Where to encode. Both give the same bytes.
    device : int, optional
        The CUDA device for frames in host memory; frames on a device are encoded there.
    batch : int, default 0
        Pictures that the CUDA backend encodes together; 0: as many as it takes to fill the device.
    threads : int, default 0
        Threads of the CPU backend; 0: one a core.
    headers : {"first", "every", "separate"}, default "first"
        Where packets have the parameter sets: before the first picture, before each, or only in `Encoder.extradata`.
        MP4 files keep them apart from the pictures in any case.
    encryption : cu264.protect.Encryption, optional
    watermark : cu264.protect.Watermark, optional
"""


def documented(function: _T) -> _T:
    """Puts the settings into a docstring, at its word SETTINGS."""
    if function.__doc__:
        function.__doc__ = function.__doc__.replace("    SETTINGS\n", SETTINGS_DOC.lstrip("\n"))
    return function
