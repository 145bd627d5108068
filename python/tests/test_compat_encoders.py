"""compat's encoders of PyNvVideoCodec and vLLM-Omni, beside the packages' own where these work."""

import ast
import importlib.metadata
import importlib.util
import inspect
import logging
import sys
import threading
import types

import numpy as np
import pytest

import cu264
from cu264.compat import ChunkedMP4Encoder, CreateEncoder, FragmentedMP4VideoEncoder


@pytest.fixture(scope="module")
def nv12():
    return np.random.default_rng(2).integers(16, 236, (12, 96, 64), dtype=np.uint8)


def test_pynvvideocodec(nv12):
    encoder = CreateEncoder(64, 64, "NV12", True, codec="h264", preset="P1", profile="high", constqp="28,31,25",
                            fps=30, bf=0)
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


def test_pynvvideocodec_gops(nv12):
    def pictures_of(flags=(), **options):
        encoder = CreateEncoder(64, 64, "NV12", True, preset="P1", **options)
        pictures = []
        for index, frame in enumerate(nv12):
            pictures += encoder.Encode(frame, 2 if index in flags else 0)
        return pictures + encoder.EndEncode()

    expected = list(cu264.Encoder(30, qp=31, gop=5, preset="fast", headers="every", pixel_format="nv12").packets(nv12))
    pictures = pictures_of(gop=5, constqp="28,31,25")
    assert [picture["data"] for picture in pictures] == [packet.data for packet in expected]
    assert [picture["picture_type"] for picture in pictures] == [3 if i % 5 == 0 else 0 for i in range(12)]
    for endless in (0, -1, 0xFFFFFFFF):
        pictures = pictures_of([4, 7], gop=endless, constqp=28)
        assert [i for i, picture in enumerate(pictures) if picture["picture_type"] == 3] == [0, 4, 7]
    with pytest.raises(ValueError, match="gop"):
        CreateEncoder(64, 64, "NV12", True, gop=-2)


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


def chunked(clip, **settings):
    return ChunkedMP4Encoder(width=98, height=66, fps=24, **settings)


def test_vllm_omni_chunks(clip, decode):
    released = []
    with chunked(clip, video_codec_options={"preset": "veryslow"}) as encoder:
        for first in range(0, 9, 3):
            chunk = clip[first : first + 3].copy()
            encoder.push(chunk, on_consumed=lambda chunk=chunk, first=first: (chunk.fill(0), released.append(first)))
        data = encoder.finish()
    assert encoder.finish() == data == encoder.close() and released == [0, 3, 6]
    assert data == cu264.encode([clip[:3], clip[3:6], clip[6:]], 24, crf=18, preset="best")
    assert encoder.stats()[:3] == (9, 0, 0) and 3 * 66 * 98 * 3 <= encoder.stats().peak_pending_bytes
    with pytest.raises(RuntimeError, match="closed"):
        encoder.push(clip[:3], on_consumed=lambda: released.append("refused"))
    assert released[3:] == ["refused"]
    encoder = chunked(clip, bitrate="1M", crf=20)
    encoder.push(clip)
    assert encoder.finish() == cu264.encode(iter([clip]), 24, bitrate=10**6)


def test_vllm_omni_chunks_with_sound(clip, probe_file, tmp_path):
    pytest.importorskip("av", reason="PyAV is not installed")
    encoder = chunked(clip, audio_waveform=np.zeros(18000, np.float32), audio_sample_rate=48000)
    encoder.push(clip)
    (tmp_path / "clip.mp4").write_bytes(encoder.finish())
    assert probe_file(tmp_path / "clip.mp4", "stream=codec_name") == [["codec_name", "h264"], ["codec_name", "aac"]]


@pytest.mark.parametrize("budget", [{"max_pending": 1}, {"max_pending": 9, "max_pending_bytes": 3 * 66 * 98 * 3}])
def test_a_slow_encoder_holds_vllm_omnis_model_back(clip, budget):
    going, started = threading.Event(), threading.Event()
    encoder = chunked(clip, **budget)
    encoder.push(clip[:3], on_consumed=lambda: (started.set(), going.wait(30)))
    assert started.wait(30)
    encoder.push(clip[3:6])
    waiting = threading.Thread(target=encoder.push, args=(clip[6:],))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive() and encoder.stats().pending_chunks == 1
    going.set()
    waiting.join(30)
    assert encoder.finish() == cu264.encode([clip[:3], clip[3:6], clip[6:]], 24, crf=18)


def test_vllm_omni_chunks_are_given_back_once(clip):
    released = []
    going, started = threading.Event(), threading.Event()
    encoder = chunked(clip)
    encoder.push(clip[:3], on_consumed=lambda: (released.append(0), started.set(), going.wait(30)))
    assert started.wait(30)
    encoder.push(clip[3:6], on_consumed=lambda: released.append(1))
    threading.Timer(0.1, going.set).start()
    encoder.abort()
    encoder.abort()
    assert released == [0, 1]
    with pytest.raises(RuntimeError, match="aborted"):
        encoder.finish()

    def fail():
        raise ZeroDivisionError

    encoder = chunked(clip, max_frame_bytes=60)  # which no picture keeps to
    with pytest.raises(RuntimeError, match="exceeds"):
        for number in range(9):
            encoder.push(clip, on_consumed=lambda number=number: released.append(number) or fail())
        encoder.finish()
    assert sorted(released[2:]) == list(range(len(released) - 2))
    for chunk, words in ((clip[0], "shape"), (clip[:, :60], "size"), (clip.astype(np.float32), "uint8")):
        with pytest.raises(ValueError, match=words):
            chunked(clip).push(chunk)


def of_vllm_omni():
    """The files of vLLM-Omni by their names."""
    pytest.importorskip("av", reason="PyAV is not installed")
    try:
        return {file.name: file.locate() for file in importlib.metadata.files("vllm-omni") or ()}
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("vllm-omni is not installed")


def test_beside_vllm_omnis_own(clip, decode, monkeypatch):
    files = of_vllm_omni()
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
    ours, theirs = (inspect.signature(kind).parameters for kind in (ChunkedMP4Encoder, module.ChunkedMP4Encoder))
    assert [ours[name] for name in theirs if name in ("width", "height", "fps", "max_pending")] and set(theirs) <= set(ours)
    pictures = []
    for kind in (module.ChunkedMP4Encoder, ChunkedMP4Encoder):
        released = []
        with kind(width=98, height=66, fps=24, audio_waveform=np.zeros(18000, np.float32), audio_sample_rate=48000) as each:
            each.push(clip[:5], on_consumed=lambda released=released: released.append(5))
            each.push(clip[5:])
            data = each.finish()
        assert released == [5] and module.count_mp4_frames(data) == 9
        pictures.append(np.frombuffer(decode(data), np.uint8).reshape(9, 99, 98)[:, :66].astype(int))
    assert np.abs(pictures[0] - pictures[1]).mean() < 3
