"""samples/adapters/dynamo_video.py: Dynamo's callers get H.264 from it."""

import io
import sys
import types

import numpy as np
import pytest

import cu264
from conftest import adapter_of, moving_pictures

adapter = adapter_of("dynamo_video")


def test_the_bytes_are_those_of_cu264(tmp_path, decode):
    frames = moving_pictures(8, 64, 96)
    video = adapter.encode_to_video_bytes(frames, fps=8, output_format="mp4", crf=21)
    assert video == cu264.encode(frames, 8, crf=21) and len(decode(video)) == 8 * 64 * 96 * 3 // 2
    path = adapter.encode_to_mp4(frames, str(tmp_path / "new"), "request", fps=8, crf=21)
    assert path.endswith("/new/request.mp4") and open(path, "rb").read() == video
    with pytest.raises(ValueError, match="not into 'webm'"):
        adapter.encode_to_video_bytes(frames, output_format="webm")


def test_in_dynamo(tmp_path):
    utils = pytest.importorskip("dynamo.common.utils.video_utils", reason="ai-dynamo is not installed")
    av = pytest.importorskip("av", reason="PyAV is not installed")
    handler = types.ModuleType("handler")  # one that has imported Dynamo's function
    handler.encode_to_video_bytes = theirs = utils.encode_to_video_bytes
    others = (utils.encode_to_video_bytes, utils.encode_to_mp4)
    sys.modules["handler"] = handler
    try:
        adapter.install(qp=24)
        assert handler.encode_to_video_bytes is utils.encode_to_video_bytes is not theirs
        # What its diffusion models give: pictures of floats, which its own function makes bytes of.
        images = list(moving_pictures(8, 64, 96).astype(np.float32) / 255)
        frames = utils.frames_to_numpy(utils.normalize_video_frames([np.stack(images)]))
        video = handler.encode_to_video_bytes(frames, fps=8, output_format="mp4")
        path = utils.encode_to_mp4(frames, str(tmp_path), "request", fps=8)
    finally:
        utils.encode_to_video_bytes, utils.encode_to_mp4 = others
        del sys.modules["handler"]
    assert open(path, "rb").read() == video == cu264.encode(frames, 8, qp=24)
    with av.open(io.BytesIO(video)) as container:
        stream = container.streams.video[0]
        assert (stream.codec.name, stream.average_rate, stream.frames) == ("h264", 8, 8)
