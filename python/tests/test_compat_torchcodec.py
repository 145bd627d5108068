"""compat.VideoEncoder beside torchcodec's own."""

import inspect
import io

import numpy as np
import pytest

import cu264
from cu264.compat import VideoEncoder
from conftest import moving_pictures


class Tensor:
    """Has as much of a tensor as the encoder asks for."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.fixture(scope="module")
def frames():
    return np.ascontiguousarray(moving_pictures(9, 66, 98).transpose(0, 3, 1, 2))


def test_without_torch(frames, tmp_path):
    encoder = VideoEncoder(Tensor(frames), frame_rate=24)
    encoder.to_file(tmp_path / "clip.mp4", codec="libx264", crf=20.4, preset="veryslow", extra_options={"g": 12})
    expected = cu264.encode(frames, 24, crf=20.4, preset="best")
    assert (tmp_path / "clip.mp4").read_bytes() == expected
    file = io.BytesIO()
    encoder.to_file_like(file, "mov", extra_options={"crf": "20.4", "qp": 30}, preset="slow", pixel_format="yuv420p")
    assert file.getvalue() == expected
    assert list(inspect.signature(VideoEncoder.to_tensor).parameters) == [
        "self", "format", "codec", "pixel_format", "crf", "preset", "extra_options"]
    coders = {"qp": 20, "profile": "high", "coder": "vlc"}
    for options, settings in (({}, {"crf": 23}), ({"extra_options": {"qp": 20}}, {"qp": 20}),
                              ({"extra_options": coders}, {"qp": 20, "profile": "high", "cavlc": True})):
        file = io.BytesIO()
        encoder.to_file_like(file, "mp4", **options)
        assert file.getvalue() == cu264.encode(frames, 24, **settings)
    for text, call in [
        ("Expected frames to be a Tensor", lambda: VideoEncoder([1], frame_rate=24)),
        ("Expected 4D frames", lambda: VideoEncoder(Tensor(frames[0]), frame_rate=24)),
        ("Expected uint8 frames", lambda: VideoEncoder(Tensor(frames.astype(np.float32)), frame_rate=24)),
        ("must be > 0", lambda: VideoEncoder(Tensor(frames), frame_rate=0)),
        ("H.264 only", lambda: encoder.to_file_like(file, "mp4", codec="libx265")),
        ("yuv420p", lambda: encoder.to_file_like(file, "mp4", pixel_format="yuv444p")),
        ("unknown preset", lambda: encoder.to_file_like(file, "mp4", preset="warp")),
        ("profile 'high422'", lambda: encoder.to_file_like(file, "mp4", extra_options={"profile": "high422"})),
        ("entropy coder 'arithmetic'", lambda: encoder.to_file_like(file, "mp4", extra_options={"coder": "arithmetic"})),
        ("no counterpart", lambda: encoder.to_file_like(file, "mp4", extra_options={"wave": 1})),
        ("format 'webm'", lambda: encoder.to_file_like(file, "webm")),
    ]:
        with pytest.raises(ValueError, match=text):
            call()


def test_beside_torchcodec(frames, tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    try:
        from torchcodec.decoders import VideoDecoder
        from torchcodec.encoders import VideoEncoder as Theirs

        Theirs(torch.zeros((1, 3, 16, 16), dtype=torch.uint8), frame_rate=1).to_tensor("mp4")
    except Exception as error:  # not installed, or no FFmpeg that it can use
        pytest.skip(f"torchcodec does not work here: {str(error)[:120]}")
    for name in ("__init__", "to_file", "to_tensor", "to_file_like"):
        own, theirs = (list(inspect.signature(getattr(kind, name)).parameters) for kind in (VideoEncoder, Theirs))
        assert own == theirs, name
    tensor = torch.from_numpy(frames)
    decoded = []
    for kind in (VideoEncoder, Theirs):
        encoder = kind(tensor, frame_rate=24)
        options = {"crf": 12, "preset": "medium"}
        encoder.to_file(tmp_path / "clip.mp4", **options)
        data = encoder.to_tensor("mp4", **options)
        assert data.dtype == torch.uint8 and data.ndim == 1 and data.device.type == "cpu"
        file = io.BytesIO()
        encoder.to_file_like(file, "mp4", **options)
        for source in (str(tmp_path / "clip.mp4"), data, file.getvalue()):
            decoder = VideoDecoder(source)
            assert (len(decoder), decoder.metadata.average_fps) == (9, 24)
            decoded.append(decoder[:].numpy().astype(int))
    assert all(np.array_equal(decoded[0], other) for other in decoded[1:3])
    assert np.abs(decoded[0] - decoded[3]).mean() < 3 and np.abs(decoded[0] - frames).mean() < 4
