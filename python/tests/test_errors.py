"""Bad input raises an exception that says what was expected."""

import numpy as np
import pytest

import cu264

FRAMES = np.zeros((2, 32, 48, 3), np.uint8)


class OnDevice:
    """An array that says it is on a CUDA device."""

    def __init__(self, kind=2):
        self.kind = kind

    def __dlpack__(self, **_):
        raise AssertionError("not to be asked for")

    def __dlpack_device__(self):
        return (self.kind, 0)


CASES = [
    (TypeError, "must be uint8, float16, bfloat16 or float32", lambda: cu264.encode(FRAMES.astype(np.int32), 25)),
    (TypeError, "must be uint8, float16, bfloat16 or float32", lambda: cu264.encode(FRAMES.astype(np.float64), 25)),
    (TypeError, "must be uint8, float16, bfloat16 or float32", lambda: cu264.encode(FRAMES.astype(bool), 25)),
    (TypeError, "must be an array", lambda: cu264.encode([[1, 2]], 25)),
    (TypeError, "must be an array", lambda: cu264.encode(None, 25)),
    (ValueError, "1, 3 or 4 channels", lambda: cu264.encode(FRAMES[..., :2], 25)),
    (ValueError, "two to four dimensions", lambda: cu264.encode(FRAMES[None], 25)),
    (ValueError, "two to four dimensions", lambda: cu264.encode(FRAMES[0, 0, 0], 25)),
    (ValueError, "may be THWC or TCHW", lambda: cu264.encode(np.zeros((2, 3, 8, 3), np.uint8), 25)),
    (ValueError, "layout", lambda: cu264.encode(FRAMES, 25, layout="THW")),
    (ValueError, "each of H and W", lambda: cu264.encode(FRAMES, 25, layout="THCC")),
    (ValueError, "pixel_format", lambda: cu264.encode(FRAMES, 25, pixel_format="yuv")),
    (ValueError, "channels", lambda: cu264.encode(FRAMES, 25, pixel_format="gray")),
    (ValueError, "H \\* 3 / 2", lambda: cu264.encode(FRAMES[..., 0][:, :31], 25, pixel_format="nv12")),
    (TypeError, "must be uint8", lambda: cu264.encode(FRAMES[..., 0][:, :30].astype(np.float32), 25, pixel_format="i420")),
    (ValueError, "contiguous", lambda: cu264.encode(FRAMES[:, :, ::2], 25)),
    (ValueError, "pitch 0", lambda: cu264.encode(np.broadcast_to(FRAMES[:, :1], FRAMES.shape), 25)),
    (ValueError, "no frames", lambda: cu264.encode(FRAMES[:0], 25)),
    (ValueError, "no samples", lambda: cu264.encode(FRAMES[:, :0], 25)),
    (ValueError, "1 to 8192", lambda: cu264.encode(np.zeros((8193, 2), np.uint8), 25)),
    (ValueError, "fps must be a positive number", lambda: cu264.encode(FRAMES, 0)),
    (ValueError, "fps must be a positive number", lambda: cu264.encode(FRAMES, float("nan"))),
    (ValueError, "fps must be a positive number", lambda: cu264.encode(FRAMES, "fast")),
    (TypeError, "fps must be a positive number", lambda: cu264.encode(FRAMES, None)),
    (TypeError, "give one of them", lambda: cu264.encode(FRAMES, 25, qp=20, crf=23)),
    (TypeError, "give one of them", lambda: cu264.VideoWriter("x.mp4", 25, crf=23, bitrate=10**6)),
    (TypeError, "must be a number", lambda: cu264.encode(FRAMES, 25, crf="23")),
    (ValueError, "0 to 51", lambda: cu264.encode(FRAMES, 25, crf=51.5)),
    (ValueError, "0 to 51", lambda: cu264.encode(FRAMES, 25, crf=float("nan"))),
    (ValueError, "at least 1000 bits", lambda: cu264.encode(FRAMES, 25, bitrate=500)),
    (ValueError, "such as 5_000_000, '5M' or '800k'", lambda: cu264.encode(FRAMES, 25, bitrate="fast")),
    (ValueError, "such as 5_000_000, '5M' or '800k'", lambda: cu264.encode(FRAMES, 25, bitrate="-5M")),
    (ValueError, "at least 1000 bits", lambda: cu264.encode(FRAMES, 25, bitrate="0.5k")),
    (TypeError, "number of bits", lambda: cu264.encode(FRAMES, 25, bitrate=[5])),
    (ValueError, "undef, bt709", lambda: cu264.encode(FRAMES, 25, matrix="bt333")),
    (ValueError, "from 0 to 255", lambda: cu264.encode(FRAMES, 25, primaries=256)),
    (TypeError, "whole number", lambda: cu264.encode(FRAMES, 25, transfer=1.5)),
    (TypeError, "whole number", lambda: cu264.encode(FRAMES, 25, max_frame_bytes=1e4)),
    (TypeError, "unexpected keyword argument 'quality'", lambda: cu264.encode(FRAMES, 25, quality=1)),
    (TypeError, r"'presett' \(did you mean preset\?\)", lambda: cu264.encode(FRAMES, 25, presett="fast")),
    (ValueError, "0 to 51", lambda: cu264.encode(FRAMES, 25, qp=52)),
    (TypeError, "whole number", lambda: cu264.encode(FRAMES, 25, qp=20.5)),
    (ValueError, "fast, balanced or best", lambda: cu264.encode(FRAMES, 25, preset="medium")),
    (ValueError, "auto, cuda or cpu", lambda: cu264.encode(FRAMES, 25, backend="gpu")),
    (ValueError, "matrix coefficients 9", lambda: cu264.encode(FRAMES, 25, matrix=9)),
    (ValueError, "value_range must be", lambda: cu264.encode(FRAMES, 25, value_range=(0, 255))),
    (ValueError, "floating-point", lambda: cu264.encode(FRAMES, 25, value_range=(0, 1))),
    (ValueError, "mp4, fmp4, h264.*AVI.*write .mp4 or .mkv", lambda: cu264.encode(FRAMES, 25, container="avi")),
    (ValueError, "mp4, fmp4, h264, mkv, ts, not 'ogg'$", lambda: cu264.encode(FRAMES, 25, container="ogg")),
    (ValueError, "clip.WEBM.*VP8.*write .mp4", lambda: cu264.write_video("clip.WEBM", FRAMES, 25)),
    (ValueError, "write .mp4 or .mkv", lambda: cu264.VideoWriter("clip.avi", 25)),
    (ValueError, "loop muted", lambda: cu264.VideoWriter("clip.gif", 25)),
    (ValueError, "fmp4 or h264", lambda: cu264.StreamEncoder(25, container="mp4")),
    (ValueError, "does not tell the container", lambda: cu264.write_video("clip.mpg", FRAMES, 25)),
    (TypeError, "path or an object with write", lambda: cu264.write_video(3, FRAMES, 25)),
    (FileNotFoundError, "folder", lambda: cu264.write_video("/not/there/clip.mp4", FRAMES, 25)),
    (ValueError, "DLPack type 10", lambda: cu264.encode(OnDevice(kind=10), 25)),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_bad_input(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kind, text, call = CASES[case]
    with pytest.raises(kind, match=text):
        call()
    assert not list(tmp_path.iterdir())


def test_frames_on_a_device_without_one():
    if cu264.probe().backend == "cuda":
        pytest.skip("there is a device")
    with pytest.raises(RuntimeError):
        cu264.encode(OnDevice(), 25)


def test_a_closed_writer_says_so(tmp_path):
    writer = cu264.VideoWriter(tmp_path / "clip.mp4", 25)
    writer.write(FRAMES)
    writer.close()
    writer.close()
    with pytest.raises(ValueError, match="closed"):
        writer.write(FRAMES)
    stream = cu264.StreamEncoder(25)
    stream.encode(FRAMES)
    stream.close()
    for call in (lambda: stream.encode(FRAMES), stream.close):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_chunks_must_fit_the_first_and_a_bad_one_may_be_repeated(tmp_path):
    path = tmp_path / "clip.mp4"
    with cu264.VideoWriter(path, 25) as video:
        video.write(FRAMES)
        with pytest.raises(ValueError, match="another size"):
            video.write(FRAMES[:, :30])
        with pytest.raises(ValueError, match="another layout"):
            video.write(FRAMES.astype(np.float32))
        with pytest.raises(ValueError, match="pts must increase"):
            video.write(FRAMES, pts=[0, 1])
        with pytest.raises(ValueError, match="3 values of pts"):
            video.write(FRAMES, pts=[5, 6, 7])
        video.write(FRAMES)
    with cu264.VideoWriter(tmp_path / "expected.mp4", 25) as video:
        video.write(np.concatenate([FRAMES, FRAMES]))
    assert path.read_bytes() == (tmp_path / "expected.mp4").read_bytes()


def test_probe_says_what_works():
    found = cu264.probe()
    assert found.backend in ("cuda", "cpu")
    assert (found.cuda_problem is None) == (found.backend == "cuda")
    assert found.detail
