"""Calls in the shape of other packages, beside the packages' own."""

import inspect
import tempfile

import numpy as np
import pytest

import cu264
from cu264.compat import export_to_video


def test_export_to_video(clip, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # for calls without a path
    path = export_to_video(list(clip.astype(np.float64) / 255), tmp_path / "clip.mp4", fps=8)
    assert path == str(tmp_path / "clip.mp4")
    expected = cu264.encode(clip, 8, crf=25)
    assert open(path, "rb").read() == expected
    assert open(export_to_video(clip, fps=8), "rb").read() == expected
    assert open(export_to_video(clip, fps=8, quality=9, preset="fast"), "rb").read() == cu264.encode(
        clip, 8, crf=5, preset="fast")
    assert open(export_to_video(clip, fps=8, bitrate=10**6), "rb").read() == cu264.encode(clip, 8, bitrate=10**6)
    assert open(export_to_video(clip, fps=8, quality=None), "rb").read() == cu264.encode(clip, 8, crf=23)
    assert open(export_to_video(clip, fps=8, qp=25), "rb").read() == cu264.encode(clip, 8, qp=25)
    with pytest.raises(ValueError, match="0 to 10"):
        export_to_video(clip, quality=11)


def test_export_to_video_takes_pil_images(clip, tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = export_to_video([image.fromarray(picture) for picture in clip], tmp_path / "clip.mp4", fps=8)
    assert open(path, "rb").read() == cu264.encode(clip, 8, crf=25)


def test_export_to_video_beside_diffusers(tmp_path, decode):
    theirs = pytest.importorskip("diffusers.utils").export_to_video
    own, others = inspect.signature(export_to_video).parameters, inspect.signature(theirs).parameters
    assert list(own)[:len(others)] == list(others)
    assert all(own[name].default == others[name].default for name in others)
    t, y, x = np.ogrid[:6, :64, :96]
    frames = np.stack(np.broadcast_arrays(x / 96 + 0 * t, y / 64, (x + y + 2 * t) / 180), axis=-1).astype(np.float32)
    pictures = []
    for call in (export_to_video, theirs):
        file = decode(call(list(frames), str(tmp_path / f"{call.__module__}.mp4"), fps=12))
        pictures.append(np.frombuffer(file, np.uint8).reshape(6, 96, 96)[:, :64].astype(int))
    assert np.abs(pictures[0] - pictures[1]).mean() < 3
