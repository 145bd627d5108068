"""compat's encoders of PyNvVideoCodec and vLLM-Omni, beside the packages' own where these work."""

import ast
import importlib.metadata
import importlib.util
import inspect
import logging
import sys
import types

import numpy as np
import pytest

import cu264
from cu264.compat import CreateEncoder, FragmentedMP4VideoEncoder


@pytest.fixture(scope="module")
def nv12():
    return np.random.default_rng(2).integers(16, 236, (12, 96, 64), dtype=np.uint8)


def test_pynvvideocodec(nv12):
    encoder = CreateEncoder(64, 64, "NV12", True, codec="h264", preset="P1", profile="high", constqp="28,31,25",
                            fps=30, gop=30, bf=0)
    expected = list(cu264.Encoder(30, qp=28, preset="fast", profile="high", headers="every", pixel_format="nv12")
                    .packets(nv12))
    pictures = []
    for frame in nv12:  # as samples read them: a flat run of bytes
        pictures += encoder.Encode(frame.reshape(-1))
    pictures += encoder.EndEncode()
    assert [picture["data"] for picture in pictures] == [packet.data for packet in expected]
    assert [picture["timestamp"] for picture in pictures] == list(range(12))
    assert {picture["picture_type"] for picture in pictures} == {3}
    assert encoder.GetSequenceParams() == encoder._encoder.extradata
    assert all(picture["data"][4] & 31 == 7 for picture in pictures)  # an SPS at the beginning
    second = encoder.Encode(nv12[0].tobytes()) + encoder.EndEncode()
    assert [picture["data"] for picture in second] == [expected[0].data]


def test_pynvvideocodec_formats(nv12):
    rgba = np.random.default_rng(3).integers(0, 256, (32, 48, 4), dtype=np.uint8)
    encoder = CreateEncoder(48, 32, "ABGR", True, constqp=20)
    pictures = encoder.Encode(rgba) + encoder.EndEncode()
    assert pictures[0]["data"] == next(cu264.Encoder(30, qp=20, headers="every").packets(rgba)).data
    planar = CreateEncoder(64, 64, "IYUV", True)
    assert planar.Encode(nv12[0]) + planar.EndEncode()
    for text, call in [
        ("profile 'high444'", lambda: CreateEncoder(64, 64, "NV12", True, profile="high444")),
        ("format 'P010'", lambda: CreateEncoder(64, 64, "P010", True)),
        ("H.264 only", lambda: CreateEncoder(64, 64, "NV12", True, codec="hevc")),
        ("needs bitrate", lambda: CreateEncoder(64, 64, "NV12", True, rc="cbr")),
        ("constqp, cbr and vbr", lambda: CreateEncoder(64, 64, "NV12", True, rc="vbr_hq", bitrate=10**6)),
        ("100 bytes", lambda: planar.Encode(bytes(100))),
        ("takes a frame", lambda: planar.Encode(None)),
    ]:
        with pytest.raises(ValueError, match=text):
            call()


def test_pynvvideocodec_bitrates(nv12):
    for options, settings in (
        ({"rc": "cbr", "bitrate": "800k", "vbvbufsize": "40k"}, {"bitrate": 800_000, "lookahead": 0, "buffer_bits": 40_000}),
        (
            {"rc": "vbr", "bitrate": 10**6, "maxbitrate": "1.5M", "lookahead": 8},
            {"bitrate": 10**6, "lookahead": 8, "max_bitrate": 1_500_000},
        ),
        ({"bitrate": 600_000}, {"bitrate": 600_000, "lookahead": 0}),
    ):
        encoder = CreateEncoder(64, 64, "NV12", True, fps=25, **options)
        pictures = [picture for frame in nv12 for picture in encoder.Encode(frame)] + encoder.EndEncode()
        own = cu264.Encoder(25, headers="every", pixel_format="nv12", **settings)
        assert [picture["data"] for picture in pictures] == [packet.data for packet in own.packets(nv12)]
        assert encoder.GetSequenceParams() == own.extradata


def test_pynvvideocodecs_own_signature():
    try:
        import PyNvVideoCodec
    except Exception as error:  # it wants NVIDIA's driver to be imported
        pytest.skip(f"PyNvVideoCodec cannot be imported: {str(error)[:80]}")
    assert list(inspect.signature(CreateEncoder).parameters) == list(
        inspect.signature(PyNvVideoCodec.CreateEncoder).parameters)


def test_vllm_omni(clip, decode):
    encoder = FragmentedMP4VideoEncoder(fps=24, video_codec_options={"crf": "20", "preset": "veryslow", "tune": "film"})
    data = encoder.encode(clip[:4]) + encoder.encode(list(clip[4:])) + encoder.close()
    assert decode(data) == decode(cu264.encode(clip, 24, crf=20, preset="best"))
    assert data.count(b"moof") == 2
    encoder = FragmentedMP4VideoEncoder(fps=24, video_codec_options={"qp": "20"})
    assert decode(encoder.encode(clip) + encoder.close()) == decode(cu264.encode(clip, 24, qp=20))
    encoder = FragmentedMP4VideoEncoder(fps=24, bitrate=10**6)
    assert decode(encoder.encode(clip) + encoder.close()) == decode(cu264.encode(clip, 24, bitrate=10**6, lookahead=0))
    assert encoder.close() == b"" and FragmentedMP4VideoEncoder(fps=24).close() == b""
    with pytest.raises(RuntimeError, match="close"):
        encoder.encode(clip)
    with pytest.raises(ValueError, match="No frames"):
        FragmentedMP4VideoEncoder(fps=24).encode([])
    expected = decode(cu264.encode(clip, 24, crf=18))
    for array in (clip.transpose(0, 3, 1, 2), clip.transpose(3, 0, 1, 2), clip.astype(np.float32) / 255):
        other = FragmentedMP4VideoEncoder(fps=24)
        assert decode(other.encode(np.ascontiguousarray(array)) + other.close()) == expected


def test_vllm_omni_tensors(clip, decode):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    tensor = (torch.from_numpy(clip).permute(3, 0, 1, 2).float() / 127.5 - 1).contiguous()
    encoder = FragmentedMP4VideoEncoder(fps=24)
    assert decode(encoder.encode(tensor) + encoder.close()) == decode(cu264.encode(clip, 24, crf=18))


def test_beside_vllm_omnis_own(clip, decode, monkeypatch):
    pytest.importorskip("av", reason="PyAV is not installed")
    try:
        files = {file.name: file.locate() for file in importlib.metadata.files("vllm-omni") or ()}
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("vllm-omni is not installed")
    tree = ast.parse(files["video_api_utils.py"].read_text())
    theirs = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "FragmentedMP4VideoEncoder")
    methods = {n.name: n.args for n in theirs.body if isinstance(n, ast.FunctionDef)}
    assert [a.arg for a in methods["__init__"].kwonlyargs] == ["fps", "video_codec_options"]
    assert [a.arg for a in methods["encode"].args] == ["self", "video"] and "close" in methods
    # The muxer behind their class, without vLLM itself, of which it only takes a logger
    vllm = types.ModuleType("vllm")
    vllm.logger = types.ModuleType("vllm.logger")
    vllm.logger.init_logger = logging.getLogger
    monkeypatch.setitem(sys.modules, "vllm", vllm)
    monkeypatch.setitem(sys.modules, "vllm.logger", vllm.logger)
    spec = importlib.util.spec_from_file_location("their_media_utils", files["media_utils.py"])
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    muxer = module.FragmentedMP4Muxer(width=98, height=66, fps=24, video_codec_options={"preset": "medium"})
    other = FragmentedMP4VideoEncoder(fps=24, video_codec_options={"preset": "medium"})
    pictures = []
    for first in (muxer.mux_video_frames, other.encode):
        close = muxer.close if first == muxer.mux_video_frames else other.close
        data = first(clip[:5]) + first(clip[5:]) + close()
        pictures.append(np.frombuffer(decode(data), np.uint8).reshape(9, 99, 98)[:, :66].astype(int))
    assert np.abs(pictures[0] - pictures[1]).mean() < 3
