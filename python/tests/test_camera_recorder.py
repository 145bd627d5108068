"""samples/adapters/camera_recorder.py: cameras of many environments, whose episodes end at different times."""

import numpy as np
import pytest

import cu264
from conftest import adapter_of, moving_pictures

av = pytest.importorskip("av", reason="PyAV is not installed")
adapter = adapter_of("camera_recorder")


def decoded(path):
    with av.open(str(path)) as container:
        assert container.streams.video[0].average_rate == 50
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


def test_a_file_for_each_camera_and_episode(tmp_path):
    steps, cameras = 12, 3
    clips = np.stack([moving_pictures(steps, 64, 96)[:, :, ::-1] if i % 2 else moving_pictures(steps, 64, 96) for i in range(cameras)])
    shown = np.empty((cameras, 64, 96, 4), np.uint8)  # which the simulator overwrites at each step
    ends = {1: [4], 2: [2, 3, 11]}  # by camera, after which steps
    recorder = adapter.CameraRecorder(tmp_path, 1 / 0.02, backend="cpu", qp=20)
    for step in range(steps):
        shown[..., :3], shown[..., 3] = clips[:, step], step
        recorder.write(shown)
        shown[:] = 0
        recorder.end([camera for camera, after in ends.items() if step in after])
    recorder.close()
    recorder.close()
    spans = {(0, 0): (0, 12), (1, 0): (0, 5), (1, 1): (5, 12), (2, 0): (0, 3), (2, 1): (3, 4), (2, 2): (4, 12)}
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"camera{c:04}_episode{e:04}.mp4" for c, e in sorted(spans)]
    for (camera, episode), (begin, end) in spans.items():
        pictures = decoded(tmp_path / f"camera{camera:04}_episode{episode:04}.mp4")
        assert len(pictures) == end - begin
        assert np.abs(pictures.astype(int) - clips[camera, begin:end]).mean() < 6


def test_chosen_cameras_and_rate_control(tmp_path):
    """With a look-ahead, pictures are still on their way when the recorder is closed."""
    pictures = moving_pictures(30, 64, 96)
    with adapter.CameraRecorder(tmp_path, 50, cameras=[1], backend="cpu", bitrate="2M", gop=5, preset="fast") as recorder:
        for picture in pictures:
            recorder.write([picture * 0, picture])
        recorder.end([0])
    assert [path.name for path in tmp_path.iterdir()] == ["camera0001_episode0000.mp4"]
    with av.open(str(tmp_path / "camera0001_episode0000.mp4")) as container:
        keys = [packet.is_keyframe for packet in container.demux(video=0) if packet.size]
    assert keys == [i % 5 == 0 for i in range(30)]


def test_what_goes_wrong_is_said(tmp_path):
    noise = np.random.default_rng(1).integers(0, 256, (64, 96, 3), np.uint8)
    recorder = adapter.CameraRecorder(tmp_path, 50, backend="cpu", max_frame_bytes=100, on_overflow="error", qp=10)
    with pytest.raises(RuntimeError, match="not complete"):
        for _ in range(1000):
            recorder.write([noise])
    with pytest.raises(RuntimeError, match="not complete"):
        recorder.close()
    with pytest.raises(ValueError, match="0 to 51"):
        with adapter.CameraRecorder(tmp_path, 50, backend="cpu", qp=60) as recorder:
            recorder.write([noise])


def test_the_bytes_are_those_of_a_stream(tmp_path):
    pictures = moving_pictures(4, 64, 96)
    with adapter.CameraRecorder(tmp_path, 50, backend="cpu", qp=24) as recorder:
        for picture in pictures:
            recorder.write([picture])
    with av.open(str(tmp_path / "camera0000_episode0000.mp4")) as container:
        sizes = [packet.size for packet in container.demux(video=0) if packet.size]
    own = [packet.size for packet in cu264.Encoder(50, backend="cpu", qp=24).packets(pictures)]
    assert np.abs(np.subtract(sizes, own)).max() < 64  # parameter sets and lengths
