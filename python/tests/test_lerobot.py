"""samples/adapters/lerobot_codec.py: data sets that LeRobot itself records, reads and cuts."""

import pathlib
import pickle

import numpy as np
import pytest

import cu264
from conftest import adapter_of, moving_pictures

pytest.importorskip("lerobot.datasets", reason="lerobot is not installed (pip install 'lerobot[dataset]')")

import av  # noqa: E402
from lerobot.configs import RGBEncoderConfig  # noqa: E402
from lerobot.datasets import LeRobotDataset, video_utils  # noqa: E402
from PIL import Image  # noqa: E402

adapter = adapter_of("lerobot_codec")
SETTINGS = {"backend": "cpu"}


def config(**fields):
    return adapter.Cu264EncoderConfig(**{"extra_options": SETTINGS, **fields})


def coded_by_cu264(path):
    with av.open(str(path)) as container:
        data = b"".join(bytes(packet) for packet in container.demux(video=0))
        return container.streams.video[0].codec.name == "h264" and b"x264" not in data


def test_images_of_an_episode(tmp_path):
    pictures = moving_pictures(10, 64, 96)
    for number, picture in enumerate(pictures):
        Image.fromarray(picture).save(tmp_path / f"frame-{number:06}.png")
    video_utils.encode_video_frames(tmp_path, tmp_path / "video.mp4", 30, config(crf=20, g=4, preset="slow"))
    own = cu264.encode(pictures, 30, crf=20, gop=4, preset="best", backend="cpu")
    assert (tmp_path / "video.mp4").read_bytes() == own


@pytest.mark.parametrize("streaming", [False, True])
def test_a_data_set(tmp_path, streaming):
    """Of two cameras, which LeRobot encodes in processes of their own or, frame by frame, in threads."""
    cameras = ["observation.images.front", "observation.images.wrist"]
    video = {"dtype": "video", "shape": (64, 96, 3), "names": ["height", "width", "channels"]}
    features = {**dict.fromkeys(cameras, video), "action": {"dtype": "float32", "shape": (2,), "names": None}}
    dataset = LeRobotDataset.create(
        "test/arm", 30, features, root=tmp_path / "set", use_videos=True, rgb_encoder=config(), streaming_encoding=streaming
    )
    pictures = dict(zip(cameras, (moving_pictures(16, 64, 96), moving_pictures(16, 64, 96)[..., ::-1].copy())))
    for first in (0, 8):
        for number in range(first, first + 8):
            shown = {camera: pictures[camera][number] for camera in cameras}
            dataset.add_frame({**shown, "action": np.zeros(2, np.float32), "task": "to move"})
        dataset.save_episode()
    dataset.finalize()
    files = list(pathlib.Path(tmp_path / "set").rglob("*.mp4"))
    assert len(files) == 2 and all(coded_by_cu264(file) for file in files)
    read = LeRobotDataset("test/arm", root=tmp_path / "set", video_backend="pyav")
    for number in range(16):
        for camera in cameras:
            shown = read[number][camera].numpy().transpose(1, 2, 0) * 255
            assert np.abs(shown - pictures[camera][number]).mean() < 8
    info = read.meta.features[cameras[0]]["info"]
    assert (info["video.codec"], info["video.crf"], info["video.preset"], info["video.g"]) == ("h264", 23, "medium", 1)
    RGBEncoderConfig.from_video_info(info)  # what parts of it would be coded by again


def test_a_file_that_is_cut(tmp_path):
    pictures = moving_pictures(20, 64, 96)
    cu264.write_video(tmp_path / "from.mp4", pictures, 25, qp=10, backend="cpu")
    video_utils.reencode_video(tmp_path / "from.mp4", tmp_path / "to.mp4", config(), start_time_s=0.2, end_time_s=0.6)
    assert coded_by_cu264(tmp_path / "to.mp4")
    with av.open(str(tmp_path / "to.mp4")) as container:
        shown = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(shown) == 10
    assert np.abs(np.stack(shown).astype(int) - pictures[5:15]).mean() < 8


def test_other_codecs_are_as_they_were(tmp_path):
    for number, picture in enumerate(moving_pictures(3, 64, 96)):
        Image.fromarray(picture).save(tmp_path / f"frame-{number:06}.png")
    video_utils.encode_video_frames(tmp_path, tmp_path / "video.mp4", 30, RGBEncoderConfig(vcodec="h264"))
    assert not coded_by_cu264(tmp_path / "video.mp4")


def test_settings():
    assert pickle.loads(pickle.dumps(config(crf=20))) == config(crf=20)
    for fields, text in (
        ({"vcodec": "h264"}, "vcodec must be 'cu264'"),
        ({"preset": "p4"}, "preset must be one of veryfast, medium, slow"),
        ({"crf": 70}, "51"),
        ({"extra_options": {"tune": "film"}}, "tune"),
    ):
        with pytest.raises((ValueError, TypeError), match=text):
            adapter.Cu264EncoderConfig(**fields)
