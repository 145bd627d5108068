"""Checks what the caller sets, and puts it into the words of the library."""

from __future__ import annotations

import difflib
import numbers
import os
import re
import textwrap
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional, Tuple, TypedDict, TypeVar, Union

from . import _core
from .frame_rate import FrameRate as FrameRate
from .frame_rate import rational as rational
from .option_types import BitrateOption, CodingOptions, ExecutionOptions
from .option_types import Changes as Changes

if TYPE_CHECKING:
    from .protect import Encryption, Watermark

_T = TypeVar("_T")


class _ArraySettings(TypedDict, total=False):
    """The settings that are not options of the library."""

    cqmfile: Optional[Union[str, "os.PathLike[str]"]]
    time_base: Optional[FrameRate]
    layout: Optional[str]
    pixel_format: Optional[str]
    value_range: Optional[Tuple[float, float]]
    encryption: Optional["Encryption"]
    watermark: Optional["Watermark"]


class StreamSettings(CodingOptions, BitrateOption, _ArraySettings, total=False):
    """The settings of a stream of a group: all but those of the group itself."""


class VideoSettings(StreamSettings, ExecutionOptions, total=False):
    """The settings of every call that encodes, for type checkers; the calls' docstrings say what they mean."""


class ExportSettings(CodingOptions, ExecutionOptions, _ArraySettings, total=False):
    """The same without a bitrate, for a call that has one of its own."""


def _whole_number(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    return str(int(value))


def _number(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, not {value!r}")
    return str(float(value))


_BITS = re.compile(r"(\d+(?:\.\d+)?)([kKmMgG]?)")
_MULTIPLES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


def _thousands(name: str, value: Any) -> str:
    """Bits as the whole thousands that the library takes."""
    bits = value
    if isinstance(value, str):  # as FFmpeg writes them
        read = _BITS.fullmatch(value.strip())
        if read is None:
            raise ValueError(f"{name} must be a number of bits such as 5_000_000, '5M' or '800k', not {value!r}")
        bits = float(Fraction(read[1]) * _MULTIPLES[read[2].lower()])
    if isinstance(bits, bool) or not isinstance(bits, numbers.Real):
        raise TypeError(f"{name} must be a number of bits such as 5_000_000, '5M' or '800k', not {value!r}")
    if not 1000 <= float(bits) < 2**62:
        raise ValueError(f"{name} must be at least 1000 bits, not {value!r}")
    return str(round(float(bits) / 1000))


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


_UNSPECIFIED = 2  # in the code points of H.273
#: What FFmpeg and this package's users call some code points, beside the library's names.
_COLOURS = {"bt601": "smpte170m", "bt2020": "bt2020nc", "srgb": "iec61966-2-1", "pq": "smpte2084", "hlg": "arib-std-b67"}


def _code_point(name: str, value: Any) -> str:
    if not isinstance(value, str):
        return _whole_number(name, value)
    known = {choice.lower(): choice for choice in _OPTIONS[name].choices}
    return known.get(value.lower()) or known.get(_COLOURS.get(value.lower(), "")) or value


#: How values of the library's types become text; the others are of settings that `make_settings` knows.
_TEXTS: Dict[str, Callable[[str, Any], str]] = {
    "whole": _whole_number,
    "number": _number,
    "kilobits": _thousands,
    "bytes": _whole_number,
    "code_point": _code_point,
    "choice": _text,
    "text": _text,
}

#: The library's options by this package's keywords.
_OPTIONS = {option.keyword: option for option in _core.options() if option.keyword and option.group != "input"}
CHANGEABLE = tuple(name for name, option in _OPTIONS.items() if option.change != "never")


def _option_text(name: str, value: Any) -> str:
    option = _OPTIONS[name]
    if option.type == "flag":
        return option.choices[0 if switch(name, value) else 1]
    if option.type == "ratio":
        ratio = rational(value, name)
        return f"{ratio.numerator}:{ratio.denominator}"
    return _TEXTS[option.type](name, value)


def option_texts(settings: Dict[str, Any]) -> Dict[str, str]:
    """Settings as options by the names that the library gives them. A setting of None is left out."""
    return {
        _OPTIONS[name].name: _option_text(name, value) for name, value in settings.items() if value is not None
    }


@dataclass(frozen=True)
class Settings:
    """The settings that every call takes; `make_settings` has checked them."""

    fps: Fraction
    time_base: Fraction  # seconds a unit of pts
    options: Tuple[Tuple[str, str], ...]
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

    @property
    def timed_bitrate(self) -> bool:
        return dict(self.options).get("timed-bitrate") == "on"

    def for_container(self, container: str) -> Settings:
        """Bare and transport streams have parameter sets before every key picture: playing can begin at any of them."""
        options = dict(self.options)
        if container in ("mp4", "fmp4") and (options.get("cbr") == "on" or options.get("frame-bytes", "0") != "0"):
            raise ValueError("cbr= and frame_bytes= make filler data, which MP4 does not allow: use another container")
        return replace(self, options=(*self.options, ("headers", "every"))) if container in ("h264", "ts") else self


def make_settings(
    fps: FrameRate,
    *,
    cqmfile: Any = None,
    time_base: Any = None,
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
            near = difflib.get_close_matches(name, _OPTIONS, 1)
            raise TypeError(f"unexpected keyword argument {name!r}" + (f" (did you mean {near[0]}?)" if near else ""))
    if given.get("cqm") is not None and cqmfile is not None:
        raise TypeError("cqm= and cqmfile= both give the scaling lists: give one of them")
    if sum(given.get(name) is not None for name in ("qp", "crf", "bitrate")) > 1:
        raise TypeError("qp=, crf= and bitrate= exclude one another: give one of them")
    rate = rational(fps, "fps")
    if value_range is not None and tuple(value_range) not in ((0, 1), (-1, 1), (0, 255)):
        raise ValueError(f"value_range must be (0, 1), (-1, 1) or (0, 255), not {value_range!r}")
    options = {_OPTIONS[name].name: _OPTIONS[name].initial for name in ("preset", "backend", "batch")}
    options.update(option_texts(given))
    options["fps"] = f"{rate.numerator}/{rate.denominator}"
    if cqmfile is not None:
        options["cqm"] = _list_text("cqmfile", cqmfile)
    settings = Settings(
        fps=rate,
        time_base=1 / rate if time_base is None else rational(time_base, "time_base"),
        options=tuple(options.items()),
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
    made = _core.StreamFormat(options, time_base)
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


#: What docstrings say of the settings that are not options of the library.
_ARRAY_DOC = """\
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
    time_base : fraction, optional
        Seconds a unit of pts and durations; 1 / fps by default.
    encryption : cu264.protect.Encryption, optional
    watermark : cu264.protect.Watermark, optional
"""

_TYPES = {"whole": "int", "number": "float", "kilobits": "int or str", "bytes": "int", "flag": "bool", "code_point": "int or str", "devices": "int"}


def _default(option: _core.Option) -> str:
    """The default, as docstrings tell it."""
    if option.type == "flag":
        return f"default {option.initial == option.choices[0]}"
    if option.type == "code_point":
        return f"default {_UNSPECIFIED}"
    if option.type in ("choice", "text") and option.initial:
        return f'default "{option.initial}"'
    if option.type == "whole" and option.initial.isdigit():
        return f"default {option.initial}"
    return "optional"


def _entry(name: str, option: _core.Option) -> str:
    """What docstrings say of an option."""
    if option.type == "choice":
        kind = "{" + ", ".join(f'"{choice}"' for choice in option.choices) + "}"
    else:
        kind = {"ratio": "fraction", "text": "str"}.get(option.type) or _TYPES[option.type]
    if option.type in ("whole", "number"):
        kind += f" from {option.low:g} to {option.high:g}"
    text = textwrap.fill(option.about, 120, initial_indent=" " * 8, subsequent_indent=" " * 8, break_on_hyphens=False)
    return f"    {name} : {kind}, {_default(option)}\n{text}\n"


#: The part of every docstring that is the same.
SETTINGS_DOC = "".join(_entry(name, option) for name, option in _OPTIONS.items()) + _ARRAY_DOC


def _changes_doc() -> str:
    names = {when: ", ".join(name for name in CHANGEABLE if _OPTIONS[name].change == when) for when in ("any_picture", "next_clip")}
    return f"""\
        {names["any_picture"]}
            From the next picture on. Within a clip, only those that the encoder was made with can change.
        {names["next_clip"]}
            From the next clip on: only before the first frame, or after the last packet of a clip.
"""


def documented(function: _T) -> _T:
    """Puts the settings into a docstring, at its word SETTINGS, and those that may change at its word CHANGES."""
    if function.__doc__:
        text = function.__doc__.replace("    SETTINGS\n", SETTINGS_DOC)
        function.__doc__ = text.replace("        CHANGES\n", _changes_doc())
    return function
