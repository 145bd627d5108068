"""compat.VideoEncoder and compat.Encoder beside torchcodec's own: the same calls on both."""

import inspect
import io
import types

import numpy as np
import pytest

import cu264
from cu264 import compat_torchcodec
from cu264.compat import Encoder, VideoEncoder
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


@pytest.fixture(scope="module")
def theirs():
    """torch, and torchcodec's decoders and encoders, where they work."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    try:
        from torchcodec import decoders, encoders

        encoders.VideoEncoder(torch.zeros((1, 3, 16, 16), dtype=torch.uint8), frame_rate=1).to_tensor("mp4")
    except Exception as error:  # not installed, or no FFmpeg that it can use
        pytest.skip(f"torchcodec does not work here: {str(error)[:120]}")
    return types.SimpleNamespace(torch=torch, decoders=decoders, encoders=encoders)


CALLS = {
    "VideoEncoder": ("__init__", "to_file", "to_tensor", "to_file_like"),
    "Encoder": ("__init__", "add_video", "add_audio", "open_file", "open_file_like", "close", "__enter__"),
    "VideoStream": ("add_frames",),
    "AudioStream": ("add_samples",),
}


@pytest.mark.parametrize("name", CALLS)
def test_arguments_are_torchcodecs(theirs, name):
    for call in CALLS[name]:
        kinds = getattr(compat_torchcodec, name), getattr(theirs.encoders, name)
        own, other = (inspect.signature(getattr(kind, call)).parameters.values() for kind in kinds)
        assert [(p.name, p.kind, p.default) for p in own] == [(p.name, p.kind, p.default) for p in other], call
    public = {each for each in vars(getattr(theirs.encoders, name)) if not each.startswith("_")}
    assert public <= set(CALLS[name])


def test_beside_torchcodec(frames, theirs, tmp_path):
    torch, tensor = theirs.torch, theirs.torch.from_numpy(frames)
    decoded = []
    for kind in (VideoEncoder, theirs.encoders.VideoEncoder):
        encoder = kind(tensor, frame_rate=24)
        options = {"crf": 12, "preset": "medium"}
        encoder.to_file(tmp_path / "clip.mp4", **options)
        data = encoder.to_tensor("mp4", **options)
        assert data.dtype == torch.uint8 and data.ndim == 1 and data.device.type == "cpu"
        file = io.BytesIO()
        encoder.to_file_like(file, "mp4", **options)
        for source in (str(tmp_path / "clip.mp4"), data, file.getvalue()):
            decoder = theirs.decoders.VideoDecoder(source)
            assert (len(decoder), decoder.metadata.average_fps) == (9, 24)
            decoded.append(decoder[:].numpy().astype(int))
    assert all(np.array_equal(decoded[0], other) for other in decoded[1:3])
    assert np.abs(decoded[0] - decoded[3]).mean() < 3 and np.abs(decoded[0] - frames).mean() < 4


def write(kind, frames, rate, target, format=None, **options):
    """Sends frames in pieces to an encoder of torchcodec's shape."""
    encoder = kind()
    video = encoder.add_video(height=frames.shape[2], width=frames.shape[3], frame_rate=rate, **options)
    with encoder.open_file(target) if format is None else encoder.open_file_like(target, format=format) as opened:
        assert opened is encoder
        last = frames[5:].permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)  # a strided view
        for piece in (frames[:4], frames[4:5], last):
            assert video.add_frames(piece) is None
    encoder.close()  # does nothing, because the file is complete


RATES = [("mp4", 24), ("mov", 30000 / 1001), ("mkv", 29.97), ("ts", 50), ("mp4", 12.5)]


@pytest.mark.parametrize("container, rate", RATES)
def test_streams_beside_torchcodecs(frames, theirs, tmp_path, decode, container, rate):
    if container in ("mkv", "ts"):
        pytest.importorskip("av", reason="PyAV is not installed")
    tensor, decoded, facts = theirs.torch.from_numpy(frames), [], []
    for kind in (Encoder, theirs.encoders.Encoder):
        path, file = tmp_path / f"{kind.__module__}.{container}", io.BytesIO()
        options = {"crf": 12, "preset": "medium", "codec": "libx264", "pixel_format": "yuv420p", "device": "cpu"}
        write(kind, tensor, rate, path, **options)
        write(kind, tensor, rate, file, {"ts": "mpegts"}.get(container, container), **options)
        for source in (str(path), file.getvalue()):
            decoded.append(np.frombuffer(decode(source), np.uint8).astype(int))
            decoder = theirs.decoders.VideoDecoder(source)
            told = decoder.metadata
            facts.append([told.codec, told.width, told.height, len(decoder), round(told.average_fps, 2)])
            if container != "ts":  # there torchcodec's decoder does not get at the last pictures of its own encoder
                times = decoder.get_frames_in_range(0, 9).pts_seconds
                facts[-1] += [round(float(each - times[0]), 2) for each in times]
    assert facts[0][:4] == ["h264", 98, 66, 9]
    assert all(each == facts[0] for each in facts[1:])
    assert np.array_equal(decoded[0], decoded[1]) and np.abs(decoded[0] - decoded[2]).mean() < 3


def test_an_exception_leaves_no_file(frames, tmp_path):
    encoder, video = made(Encoder)
    with pytest.raises(KeyError), encoder.open_file(tmp_path / "clip.mp4"):
        video.add_frames(frames)
        raise KeyError
    assert not list(tmp_path.iterdir())
    with pytest.raises(RuntimeError, match="closed"):
        encoder.open_file(tmp_path / "clip.mp4")


def test_sound_beside_torchcodecs(frames, theirs, tmp_path):
    pytest.importorskip("av", reason="PyAV is not installed")
    torch, facts = theirs.torch, []
    sound = torch.sin(torch.arange(16000) / 16000 * 2 * np.pi * torch.tensor([[440.0], [220.0]])) / 2
    for kind in (Encoder, theirs.encoders.Encoder):
        path = str(tmp_path / f"{kind.__module__}.mp4")
        encoder = kind()
        video = encoder.add_video(height=66, width=98, frame_rate=9)
        audio = encoder.add_audio(sample_rate=16000, num_channels=2, bit_rate=64000)
        with encoder.open_file(path):
            for i in range(9):
                video.add_frames(torch.from_numpy(frames[i : i + 1]))
                assert audio.add_samples(sound[:, i * 1600 : (i + 1) * 1600]) is None
            audio.add_samples(sound[:, 9 * 1600 :])
        samples = theirs.decoders.AudioDecoder(path).get_all_samples()
        assert abs(samples.data.shape[1] - 16000) <= 2048  # of whole blocks of AAC
        assert float((samples.data[:, 4000:12000].std(dim=1) - sound.std(dim=1)).abs().max()) < 0.05
        facts.append((samples.sample_rate, tuple(samples.data.shape[:1]), len(theirs.decoders.VideoDecoder(path))))
    assert facts[0] == facts[1]


#: Arrays that add_frames refuses.
BAD_FRAMES = {
    "three dimensions": lambda frames: frames[0],
    "one channel": lambda frames: frames[:, :1],
    "four channels": lambda frames: frames[:, [0, 1, 2, 2]],
    "channels last": lambda frames: frames.transpose(0, 2, 3, 1),
    "another height": lambda frames: frames[:, :, 2:],
    "another width": lambda frames: frames[..., 2:],
    "floats": lambda frames: (frames / 255).astype(np.float32),
    "signed bytes": lambda frames: frames.astype(np.int8),
    "words": lambda frames: frames.astype(np.int16),
}


def made(kind, **options):
    encoder = kind()
    return encoder, encoder.add_video(**{"height": 66, "width": 98, "frame_rate": 24, **options})


def opened(kind, **options):
    encoder, video = made(kind, **options)
    return encoder.open_file_like(io.BytesIO(), format="mp4"), video


def closed(kind, frames):
    encoder, video = opened(kind)
    video.add_frames(frames)
    encoder.close()
    return encoder, video


#: Calls that an encoder refuses.
BAD_CALLS = {
    "frames that are no array": lambda kind, frames: opened(kind)[1].add_frames(None),
    "no height": lambda kind, frames: opened(kind, height=0),
    "a negative width": lambda kind, frames: opened(kind, width=-2),
    "no rate": lambda kind, frames: opened(kind, frame_rate=0),
    "a codec that does not exist": lambda kind, frames: opened(kind, codec="h265000"),
    "a pixel format that does not exist": lambda kind, frames: opened(kind, pixel_format="yuv421p"),
    "a preset that does not exist": lambda kind, frames: opened(kind, preset="warp"),
    "frames before the file": lambda kind, frames: made(kind)[1].add_frames(frames),
    "a file without a stream": lambda kind, frames: kind().open_file_like(io.BytesIO(), format="mp4"),
    "a second file": lambda kind, frames: opened(kind)[0].open_file_like(io.BytesIO(), format="mp4"),
    "a container that does not exist": lambda kind, frames: made(kind)[0].open_file_like(io.BytesIO(), format="warp"),
    "a name without a container": lambda kind, frames: made(kind)[0].open_file("clip.warp"),
    "frames after the end": lambda kind, frames: closed(kind, frames)[1].add_frames(frames),
    "a file after the end": lambda kind, frames: closed(kind, frames)[0].open_file_like(io.BytesIO(), format="mp4"),
    "no sample rate": lambda kind, frames: kind().add_audio(sample_rate=0, num_channels=1),
    "no channel": lambda kind, frames: kind().add_audio(sample_rate=8000, num_channels=0),
}


@pytest.mark.parametrize("what", [*BAD_FRAMES, *BAD_CALLS])
def test_what_an_encoder_refuses(frames, what):
    with pytest.raises(RuntimeError):
        if what in BAD_FRAMES:
            opened(Encoder)[1].add_frames(np.ascontiguousarray(BAD_FRAMES[what](frames)))
        else:
            BAD_CALLS[what](Encoder, frames)


@pytest.mark.parametrize("what", [*BAD_FRAMES, *BAD_CALLS])
def test_torchcodec_refuses_it_with_the_same_kind_of_error(frames, theirs, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tensor = theirs.torch.from_numpy
    for kind in (Encoder, theirs.encoders.Encoder):
        with pytest.raises(RuntimeError):
            if what in BAD_FRAMES:
                opened(kind)[1].add_frames(tensor(np.ascontiguousarray(BAD_FRAMES[what](frames))))
            else:
                BAD_CALLS[what](kind, tensor(frames))


def test_what_video_encoders_refuse(frames, theirs):
    tensor = theirs.torch.from_numpy(frames)
    for kind in (VideoEncoder, theirs.encoders.VideoEncoder):
        for bad in (None, tensor[0], tensor / 255, tensor.int()):
            with pytest.raises(ValueError):
                kind(bad, frame_rate=24)
        with pytest.raises(ValueError):
            kind(tensor, frame_rate=0)
        for encoder in (kind(tensor[:, :1], frame_rate=24), kind(tensor.permute(0, 2, 3, 1), frame_rate=24)):
            with pytest.raises(RuntimeError):
                encoder.to_tensor("mp4")
        for options in ({"format": "warp"}, {"format": "mp4", "codec": "h265000"}, {"format": "mp4", "preset": "warp"}):
            with pytest.raises(RuntimeError):
                kind(tensor, frame_rate=24).to_tensor(**options)
