"""The stage for NVIDIA NeMo Curator, in its own pipelines."""

import pathlib
import pickle
import shutil
import uuid

import numpy as np
import pytest

import cu264

WHY = "nemo-curator is not installed (pip install nemo-curator; it brings PyTorch)"
pytest.importorskip("nemo_curator", reason=WHY)
pytest.importorskip("av", reason="PyAV is not installed")

from nemo_curator.stages.video.clipping import clip_extraction_stages as curator  # noqa: E402
from nemo_curator.tasks.video import Clip, Video, VideoTask  # noqa: E402

from cu264.ray import transcode_clip  # noqa: E402
from cu264.ray.curator_stage import Cu264TranscodingStage  # noqa: E402

SETTINGS = {"qp": 26, "preset": "fast"}


@pytest.fixture
def film(clip, tmp_path):
    if shutil.which("ffprobe") is None:
        pytest.skip("there is no ffprobe, with which NeMo Curator reads metadata")
    path = tmp_path / "film.mp4"
    cu264.write_video(path, np.concatenate([clip] * 12), 25, qp=10)  # 108 pictures, 4.32 s
    return path


def task_of(path, spans):
    video = Video(input_video=path, source_bytes=path.read_bytes())
    video.populate_metadata()
    video.clips = [Clip(uuid=uuid.uuid4(), source_video=str(path), span=span) for span in spans]
    return VideoTask(dataset_name="films", data=video)


@pytest.mark.parametrize("use_gpu", [False, True])
def test_clips_of_a_task(film, use_gpu, monkeypatch):
    stage = pickle.loads(pickle.dumps(Cu264TranscodingStage(settings=SETTINGS, use_gpu=use_gpu)))
    assert isinstance(stage, curator.ClipTranscodingStage)
    assert (stage.resources.gpus, stage.resources.cpus) == ((pytest.approx(1 / 3), 1) if use_gpu else (0, 6))
    spans = [(0, 1), (1, 2.5), (4, 9), (50, 51)]
    task = task_of(film, spans)
    with monkeypatch.context() as without_programs:
        without_programs.setenv("PATH", "")
        stage.setup()
        done = stage.process(task)
    clips = [clip for task in done for clip in task.data.clips]
    assert [clip.span for clip in clips] == spans and done[0].data.source_bytes is None
    for clip in clips[:3]:
        assert clip.buffer == transcode_clip(film, span=clip.span, **SETTINGS).data and not clip.errors
    assert [clip.extract_metadata()["num_frames"] for clip in clips[:3]] == [25, 38, 8]
    assert clips[3].buffer is None and "no pictures" in clips[3].errors["transcode"]


def test_a_task_without_clips(film):
    stage = Cu264TranscodingStage(use_gpu=False)
    stage.setup()
    done = stage.process(task_of(film, []))
    assert (done[0] if isinstance(done, list) else done).data.clips == []


@pytest.mark.parametrize(
    "fields, text",
    [
        ({"encoder": "h264_nvenc"}, "must be 'cu264'"),
        ({"use_hwaccel": True}, "PyAV decodes"),
        ({"use_input_bit_rate": True}, "use_input_bit_rate is not available"),
        ({"settings": {"qp": 60}}, "0 to 51"),
    ],
)
def test_what_is_refused(fields, text):
    with pytest.raises(ValueError, match=text):
        Cu264TranscodingStage(**fields)


def test_a_pipeline_on_ray_data(film, monkeypatch):
    ray = pytest.importorskip("ray")
    from nemo_curator.backends.ray_data import RayDataExecutor
    from nemo_curator.pipeline import Pipeline
    from nemo_curator.stages.video.io.video_reader import VideoReader

    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(cu264.__file__).parents[1]))  # of the workers
    ray.init(address="local", num_cpus=4, include_dashboard=False, object_store_memory=100 << 20, log_to_driver=False)
    try:
        pipeline = Pipeline(name="clips", description="a film to clips")
        pipeline.add_stage(VideoReader(input_video_path=str(film.parent)))
        pipeline.add_stage(
            curator.FixedStrideExtractorStage(clip_len_s=1, clip_stride_s=1, min_clip_length_s=0.5, limit_clips=0)
        )
        pipeline.add_stage(Cu264TranscodingStage(settings=SETTINGS, use_gpu=False, num_cpus_per_worker=1))
        clips = [clip for task in pipeline.run(RayDataExecutor()) for clip in task.data.clips]
    finally:
        ray.shutdown()
    assert sorted(clip.span for clip in clips) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    for clip in clips:
        assert clip.buffer == transcode_clip(film, span=clip.span, **SETTINGS).data
