"""Settings of other encoders in this package's words."""

from __future__ import annotations

import difflib
from typing import Any, Dict, Iterable, Mapping, Optional

_PRESETS = {
    "fast": ("ultrafast", "superfast", "veryfast", "faster", "fast", "p1", "p2", "p3"),
    "balanced": ("balanced", "medium", "p4", "p5", "default"),
    "best": ("best", "slow", "slower", "veryslow", "placebo", "p6", "p7"),
}
DEFAULT_CRF = 23.0  # x264's
_H264 = ("h264", "libx264", "libx264rgb", "libopenh264", "h264_nvenc", "avc")

_PROFILES = {
    "baseline": ("baseline", "constrained_baseline", "constrained-baseline"),
    "main": ("main",),
    "high": ("high", "constrained_high", "constrained-high"),
    "auto": ("auto", "automatic", "autoselect"),
}
#: The names of entropy coders that FFmpeg gives `coder`, of which these are CAVLC.
_CODERS = {"cavlc": True, "vlc": True, "0": True, "cabac": False, "ac": False, "1": False, "default": False, "auto": False}

#: What other encoders are told about other pictures than intra pictures, or about themselves: nothing to do here.
_WITHOUT_MEANING = ("g", "keyint", "bf", "refs", "tune", "threads", "sc_threshold", "x264-params")


def packed(frames: Any) -> Any:
    """The same frames with adjacent samples in each row, as other packages make them of strided views."""
    if hasattr(frames, "is_contiguous"):  # PyTorch
        return frames if frames.is_contiguous() else frames.contiguous()
    flags = getattr(frames, "flags", None)
    if type(frames).__module__.partition(".")[0] in ("numpy", "cupy") and flags is not None and not flags["C_CONTIGUOUS"]:
        return frames.copy()
    return frames


def meant(name: str, known: Iterable[str]) -> str:
    """What to say of an option that does not exist: the one that was probably meant."""
    near = difflib.get_close_matches(str(name).lower(), list(known), 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def preset_of(name: Any) -> str:
    """A preset for one of x264 or NVENC: its faster ones become "fast", its slower ones "best"."""
    text = str(name).lower()
    for preset, names in _PRESETS.items():
        if text in names:
            return preset
    raise ValueError(f"unknown preset {name!r}: use fast, balanced or best, or a preset of x264 or NVENC")


def profile_of(name: Any) -> str:
    """A profile for one of x264 or NVENC."""
    text = str(name).lower()
    for profile, names in _PROFILES.items():
        if text in names:
            return profile
    raise ValueError(f"profile {name!r} is not available; baseline, main and high are")


def cavlc_of(name: Any) -> bool:
    """Whether an entropy coder, as FFmpeg names it, is CAVLC."""
    if str(name).lower() not in _CODERS:
        raise ValueError(f"unknown entropy coder {name!r}: use cavlc or cabac")
    return _CODERS[str(name).lower()]


def check_codec(codec: Optional[str]) -> None:
    if codec is not None and codec.lower() not in _H264:
        raise ValueError(f"codec {codec!r} is not available: cu264 encodes H.264 only")


def settings_of(options: Mapping[str, Any], crf: float = DEFAULT_CRF) -> Dict[str, Any]:
    """Settings for options as they are given to libx264 through FFmpeg; `crf` where they name no quality."""
    settings: Dict[str, Any] = {}
    for name, value in options.items():
        if name == "crf":
            settings["crf"] = float(value)
        elif name in ("qp", "cq"):
            settings["qp"] = round(float(value))
        elif name == "preset":
            settings["preset"] = preset_of(value)
        elif name == "profile":
            settings["profile"] = profile_of(value)
        elif name == "coder":
            settings["cavlc"] = cavlc_of(value)
        elif name == "slices":
            settings["slices"] = int(value)
        elif name not in _WITHOUT_MEANING:
            known = ("crf", "qp", "cq", "preset", "profile", "coder", "slices", *_WITHOUT_MEANING)
            raise ValueError(
                f"option {name!r} has no counterpart{meant(name, known)}; crf, qp, preset, profile and slices have"
            )
    if "crf" in settings:
        settings.pop("qp", None)  # as FFmpeg decides
    elif "qp" not in settings:
        settings["crf"] = crf
    return settings
