"""CreateEncoder, as PyNvVideoCodec has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from .compat_names import check_codec, meant, packed, preset_of, profile_of
from .guard import Guard
from .picture_encoder import Encoder
from .settings import rational

# FourCC-like names and the pixel formats here; the others of NVENC are not 8-bit 4:2:0 or R, G, B, A in memory.
_FORMATS = {"NV12": "nv12", "IYUV": "i420", "YUV420": "i420", "ABGR": "rgb"}
_P, _IDR = 0, 3  # NV_ENC_PIC_TYPE_P and _IDR
_ENDLESS = 0xFFFFFFFF  # NVENC_INFINITE_GOPLENGTH
_FORCE_INTRA, _FORCE_IDR = 1, 2  # of NV_ENC_PIC_FLAGS


#: What `Reconfigure` can change, and its name here.
_RECONFIGURED = {"averageBitrate": "bitrate", "maxBitRate": "max_bitrate", "vbvBufferSize": "buffer_bits"}
#: Options of PyNvVideoCodec's CreateEncoder. Those that are not read concern pictures that do not exist here, or NVENC.
_OPTIONS = (
    "codec preset profile tuning_info rc constqp bitrate maxbitrate vbvbufsize vbvinit fps gop bf initqp qmin qmax cq "
    "lookahead aq temporalaq ldkfs bref multipass idrperiod repeatspspps numrefl0 numrefl1 gpu_id cudacontext cudastream "
    "colorspace level tier maxwidth maxheight s slice intrarefresh strictgop nonrefp lookahead_level tflevel "
    "outputstats outputrecon enable_sei"
).split()


@dataclass
class ReconfigureParams:
    """What `PyNvEncoder.Reconfigure` takes, named as PyNvVideoCodec names it. Rates and sizes are in bits."""

    averageBitrate: int = 0  # noqa: N815
    maxBitRate: int = 0  # noqa: N815
    vbvBufferSize: int = 0  # noqa: N815
    vbvInitialDelay: int = 0  # noqa: N815 - has no effect
    frameRateNum: int = 0  # noqa: N815
    frameRateDen: int = 0  # noqa: N815


class _Planes:
    """NV12 whose planes are told one by one, as objects with cuda() tell them, as one array."""

    def __init__(self, luma: Any, chroma: Any, width: int, height: int, stream: Optional[int]) -> None:
        first, second = luma.__cuda_array_interface__, chroma.__cuda_array_interface__
        pitch = (first.get("strides") or (width,))[0]
        if second["data"][0] != first["data"][0] + pitch * height:
            raise ValueError("the chroma plane must directly follow the luma plane")
        self.__cuda_array_interface__ = {
            "shape": (height * 3 // 2, width),
            "strides": (pitch, 1),
            "typestr": "|u1",
            "data": first["data"],
            "stream": stream or first.get("stream"),
            "version": 3,
        }
        self._owners = (luma, chroma)


class PyNvEncoder:
    """The encoder that `CreateEncoder` returns."""

    def __init__(
        self, width: int, height: int, fmt: str, on_host: bool, stream: Optional[int], fps: Any, **settings: Any
    ) -> None:
        self._shape = (height, width, 4) if fmt == "rgb" else (height * 3 // 2, width)
        self._width, self._height, self._format = width, height, fmt
        self._on_host = on_host
        self._stream = stream
        self._frames = 0
        self._guard = Guard()
        rate = rational(fps, "fps")
        self._reconfigurable = {
            "averageBitrate": int(settings.get("bitrate", 0)),
            "maxBitRate": int(settings.get("max_bitrate", 0)),
            "vbvBufferSize": int(settings.get("buffer_bits", 0)),
            "frameRateNum": rate.numerator,
            "frameRateDen": rate.denominator,
        }
        layout = "HWC" if fmt == "rgb" else "HW"
        self._encoder = Encoder(fps, pixel_format=fmt, layout=layout, **settings)
        self._settings = dict(settings, pixel_format=fmt, layout=layout, fps=fps)

    def Encode(self, frame: Any, flags: Any = 0, *_: Any) -> List[Dict[str, Any]]:  # noqa: N802
        """Takes a frame, and returns the pictures that are ready: dicts of data, timestamp and picture_type.

        The bits 1 (FORCEINTRA) and 2 (FORCEIDR) of `flags` ask for a key picture.
        """
        key = isinstance(flags, int) and flags & (_FORCE_INTRA | _FORCE_IDR) != 0
        with self._guard:
            packets = self._encoder.send(self._array(frame), [self._frames], keys=[key])
            self._frames += 1
            return self._pictures(packets)

    def EndEncode(self) -> List[Dict[str, Any]]:  # noqa: N802
        """The pictures that are left. The next frame begins another stream."""
        with self._guard:
            self._frames = 0
            return self._pictures(self._encoder.flush())

    def GetEncodeReconfigureParams(self) -> "ReconfigureParams":  # noqa: N802
        """What `Reconfigure` may change, as it is now. 0 is what the encoder chooses."""
        with self._guard:
            return ReconfigureParams(**self._reconfigurable)

    def Reconfigure(self, params: "ReconfigureParams") -> bool:  # noqa: N802
        """Changes the bitrate, its maximum and its buffer from the next picture on; the others must stay."""
        with self._guard:
            now = self._reconfigurable
            wanted = {name: int(getattr(params, name)) for name in now}
            changed = {name: value for name, value in wanted.items() if value != now[name]}
            for name in changed:
                if name not in _RECONFIGURED:
                    raise ValueError(f"{name} cannot change: {', '.join(_RECONFIGURED)} can")
                if "bitrate" not in self._settings:
                    raise ValueError(f"{name} cannot change: the encoder has a constant quantiser")
            changes: Dict[str, Any] = {_RECONFIGURED[name]: value for name, value in changed.items()}
            self._encoder.reconfigure(**changes)
            now.update(changed)
            return True

    def GetSequenceParams(self) -> bytes:  # noqa: N802
        """SPS and PPS, also before the first frame: another encoder makes them, of a black picture."""
        settings = dict(self._settings)
        encoder = Encoder(settings.pop("fps"), **dict(settings, backend="cpu"))
        encoder.send(memoryview(bytes(_size(self._shape))).cast("B", self._shape))
        return encoder.extradata

    def _array(self, frame: Any) -> Any:
        if frame is None:
            raise ValueError("Encode takes a frame; EndEncode gives the pictures that are left")
        is_array = hasattr(frame, "__dlpack__") or hasattr(frame, "__cuda_array_interface__")
        if hasattr(frame, "cuda") and not is_array:
            planes = frame.cuda()
            if len(planes) != 2 or self._format != "nv12":
                raise ValueError("an object with cuda() must give the two planes of NV12")
            return _Planes(planes[0], planes[1], self._width, self._height, self._stream)
        if self._on_host:
            data = memoryview(packed(frame)).cast("B")
            if data.nbytes != _size(self._shape):
                raise ValueError(f"the frame has {data.nbytes} bytes, but {_size(self._shape)} are a picture")
            return data.cast("B", self._shape)
        return packed(frame)

    @staticmethod
    def _pictures(packets: Any) -> List[Dict[str, Any]]:
        return [
            {"data": packet.data, "timestamp": packet.pts, "picture_type": _IDR if packet.keyframe else _P}
            for packet in packets
        ]


def _size(shape: Any) -> int:
    size = 1
    for side in shape:
        size *= side
    return size


def _bits(value: Any) -> float:
    """Bits from a number, or from a text such as "5M" or "800k"."""
    text = str(value).strip().lower()
    factor = {"k": 1e3, "m": 1e6, "g": 1e9}.get(text[-1:], 1)
    return float(text[:-1] if factor > 1 else text) * factor


def _gop_of(value: Any) -> int:
    gop = int(value)
    return 0 if gop in (0, -1, _ENDLESS) else gop  # the first picture alone is a key picture


def _quality_of(options: Dict[str, Any], gop: int) -> Dict[str, Any]:
    """NVENC's modes of rate control, its constant quantiser among them, in this package's words."""
    mode = str(options.get("rc", "vbr" if "bitrate" in options else "constqp")).lower()
    if mode not in ("constqp", "cbr", "vbr"):
        raise ValueError(f"rc {options['rc']!r} is not available; constqp, cbr and vbr are")
    if mode == "constqp":
        if "constqp" not in options:
            return {}
        # 28, "28,31,25" or [28, 31, 25]: of I, P and B pictures. `qp` is that of P pictures where there are some.
        each = str(options["constqp"]).strip("[]() ").split(",")
        return {"qp": int(each[1 if gop != 1 and len(each) > 1 else 0])}
    if "bitrate" not in options:
        raise ValueError(f"rc {options['rc']!r} needs bitrate=")
    # As with NVENC a picture is coded when it comes, unless a look-ahead is asked for.
    settings = {"bitrate": _bits(options["bitrate"]), "lookahead": int(options.get("lookahead", 0))}
    if mode == "vbr" and "maxbitrate" in options:
        settings["max_bitrate"] = _bits(options["maxbitrate"])
    if "vbvbufsize" in options:
        settings["buffer_bits"] = _bits(options["vbvbufsize"])
    return settings


def CreateEncoder(  # noqa: N802
    width: int, height: int, fmt: str, usecpuinputbuffer: bool, **kwargs: Any
) -> PyNvEncoder:
    """Does what `PyNvVideoCodec.CreateEncoder` does, with this package's encoder, which needs no NVENC.

    Parameters
    ----------
    width, height : int
    fmt : {"NV12", "IYUV", "YUV420", "ABGR"}
    usecpuinputbuffer : bool
        Frames are bytes or arrays in host memory; else arrays on a CUDA device (DLPack or the CUDA array interface), or
        objects whose cuda() gives the planes of NV12, one directly after the other.
    **kwargs
        codec ("h264"), preset ("P1" to "P7", or of this package), profile ("baseline", "main", "high"), constqp (one
        quantiser or those of I, P and B pictures), rc ("constqp", "cbr", "vbr"), bitrate, maxbitrate and vbvbufsize
        (bits, also as "5M" or "800k"), lookahead (pictures), gop (pictures from one key picture to the next; 1, every
        picture a key picture, unless given), fps, gpu_id and cudastream. Others of NVENC are ignored: they are for B
        pictures, long-term references, or NVENC itself.

    Returns
    -------
    PyNvEncoder
        With Encode, EndEncode and GetSequenceParams. Each picture has its parameter sets.
    """
    name = str(fmt).upper()
    if name not in _FORMATS:
        raise ValueError(f"format {fmt!r} is not available; {', '.join(_FORMATS)} are")
    for option in kwargs:
        if option not in _OPTIONS and "::" not in option:
            raise ValueError(f"unknown option {option!r}{meant(option, _OPTIONS)}")
    check_codec(kwargs.get("codec"))
    gop = _gop_of(kwargs.get("gop", 1))
    settings: Dict[str, Any] = {"gop": gop, **_quality_of(kwargs, gop)}
    if "preset" in kwargs:
        settings["preset"] = preset_of(kwargs["preset"])
    if "profile" in kwargs:
        settings["profile"] = profile_of(kwargs["profile"])
    if "gpu_id" in kwargs and not usecpuinputbuffer:
        settings["device"] = int(kwargs["gpu_id"])
    stream = kwargs.get("cudastream")
    return PyNvEncoder(
        int(width),
        int(height),
        _FORMATS[name],
        bool(usecpuinputbuffer),
        None if stream is None else int(stream),
        kwargs.get("fps", 30),
        headers="every",
        **settings,
    )
