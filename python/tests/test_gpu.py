"""Frames on a CUDA device, from PyTorch and CuPy, where there is one."""

import io

import numpy as np
import pytest

import cu264
from conftest import require_cuda

require_cuda()


def on_cpu(frames, fps=25, **settings):
    return cu264.encode(frames, fps, backend="cpu", **settings)


@pytest.mark.parametrize("preset", ["fast", "balanced", "best"])
@pytest.mark.parametrize("container", ["mp4", "h264"])
def test_numpy_gives_the_cpus_bytes(clip, preset, container):
    settings = {"preset": preset, "container": container}
    assert cu264.encode(clip, 25, backend="cuda", **settings) == on_cpu(clip, **settings)


TORCH = {
    "uint8 THWC": (lambda t: t, {}),
    "uint8 TCHW": (lambda t: t.permute(0, 3, 1, 2).contiguous(), {}),
    "uint8 TCHW, a view": (lambda t: t.permute(0, 3, 1, 2), {}),
    "float32 TCHW": (lambda t: t.permute(0, 3, 1, 2).contiguous().float() / 255, {}),
    "float32 THWC": (lambda t: t.float() / 255, {}),
    "float16 TCHW in [-1, 1]": (lambda t: (t.permute(0, 3, 1, 2).contiguous().float() / 127.5 - 1).half(),
                                {"value_range": (-1, 1)}),
    "bfloat16 CTHW": (lambda t: (t.permute(3, 0, 1, 2).contiguous().float() / 255).bfloat16(), {"layout": "CTHW"}),
    "gray": (lambda t: t[..., 0].contiguous(), {}),
    "every second picture": (lambda t: t[::2], {}),
    "one picture": (lambda t: t[3], {}),
    "cropped": (lambda t: t[:, 3:-4, 5:-6], {}),
}


@pytest.mark.parametrize("name", TORCH)
def test_torch(clip, torch, name):
    change, settings = TORCH[name]
    tensor = change(torch.from_numpy(clip))
    data = cu264.encode(tensor.cuda() if name != "cropped" else change(torch.from_numpy(clip).cuda()), 25, **settings)
    assert data == on_cpu(tensor, **settings)
    assert torch.cuda.current_device() == 0
    assert torch.ones(3, device="cuda").sum().item() == 3  # the context still works


def test_nv12_is_read_in_place(torch):
    frames = np.random.default_rng(5).integers(16, 235, (4, 51, 50), dtype=np.uint8)
    settings = {"pixel_format": "nv12"}
    assert cu264.encode(torch.from_numpy(frames).cuda(), 25, **settings) == on_cpu(frames, **settings)


def test_cupy(clip, cupy):
    expected = on_cpu(clip)
    assert cu264.encode(cupy.asarray(clip), 25) == expected
    side = cupy.cuda.Stream(non_blocking=True)
    with side:
        frames = cupy.asarray(clip)
        assert cu264.encode(frames, 25) == expected


def test_the_cuda_array_interface(clip, cupy):
    class Interface:
        def __init__(self, array, stream):
            self.array = array
            self.__cuda_array_interface__ = dict(array.__cuda_array_interface__, stream=stream)

    side = cupy.cuda.Stream(non_blocking=True)
    with side:
        frames = cupy.asarray(clip)
        assert cu264.encode(Interface(frames, side.ptr), 25) == on_cpu(clip)
    side.synchronize()
    assert cu264.encode(Interface(frames, None), 25) == on_cpu(clip)


def test_frames_written_just_before_on_another_stream(torch):
    rounds, pictures = 1000, 4
    source = np.random.default_rng(2).integers(0, 255, (16, pictures, 48, 64, 3), dtype=np.uint8)
    expected = cu264.StreamEncoder(25, preset="fast", backend="cpu", container="h264")
    found = cu264.StreamEncoder(25, preset="fast", container="h264")
    clips = torch.from_numpy(source).cuda()
    buffer = torch.zeros_like(clips[0])
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    wrong = 0
    with torch.cuda.stream(side):
        for i in range(rounds):
            torch.cuda._sleep(200_000)
            buffer.copy_(clips[i % 16])
            data = found.encode(buffer)
            buffer.zero_()  # and overwritten right after
            wrong += data != expected.encode(source[i % 16])
    assert wrong == 0


MODES = {"qp": {"qp": 24}, "crf": {"crf": 24}, "bitrate": {"bitrate": 400_000}, "limit": {"max_frame_bytes": 3000},
         "cbr": {"bitrate": 400_000, "cbr": True}, "edges": {"edge_guided": 2}, "variance": {"aq": "variance"}}
NAMED = 3  # for a stream that the test makes; others are the handles of CUDA's default streams


def late_stream(torch, handle):
    if handle == 1:
        return torch.cuda.default_stream()
    return torch.cuda.Stream() if handle == NAMED else torch.cuda.ExternalStream(handle)


class Interface:
    """The CUDA array interface of a tensor, and nothing else of it."""

    def __init__(self, tensor, stream):
        self.tensor = tensor
        self.__cuda_array_interface__ = dict(tensor.__cuda_array_interface__, version=3, stream=stream)


def in_form(clip, form):
    frames = {"RGB": clip, "planar": np.ascontiguousarray(clip.transpose(0, 3, 1, 2)), "gray": clip[..., 0].copy(),
              "floats": clip.astype(np.float32) / 255}
    return frames[form]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("handle", [1, 2, NAMED])
@pytest.mark.parametrize("form", ["RGB", "planar", "gray", "floats"])
def test_arrays_that_are_written_late(clip, torch, form, handle, mode):
    source = in_form(clip, form)
    settings = {"container": "h264", **MODES[mode]}  # MP4 cannot take the filler data of cbr
    expected = on_cpu(source, **settings)
    written = torch.from_numpy(source).cuda()
    side = late_stream(torch, handle)
    for protocol in ("the CUDA array interface", "DLPack"):
        frames = torch.zeros_like(written)
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(20_000_000)
            frames.copy_(written)
            # DLPack's producer knows its stream, which is the current one; the interface names it.
            late = frames if protocol == "DLPack" else Interface(frames, side.cuda_stream or 1)
            if protocol == "DLPack":
                assert cu264.encode(late, 25, **settings) == expected, protocol
        if protocol != "DLPack":
            assert cu264.encode(late, 25, **settings) == expected, protocol


def test_an_array_without_a_stream_is_not_waited_for(clip, torch):
    frames = torch.from_numpy(clip).cuda()
    torch.cuda.synchronize()
    assert cu264.encode(Interface(frames, None), 25, crf=24) == on_cpu(clip, crf=24)


def test_a_chunk_may_be_overwritten_once_it_was_written(clip, torch):
    file = io.BytesIO()
    buffer = torch.empty((3, *clip.shape[1:]), dtype=torch.uint8, device="cuda")
    with cu264.VideoWriter(file, 25) as video:
        for i in range(0, 9, 3):
            torch.cuda._sleep(2_000_000)
            buffer.copy_(torch.from_numpy(clip[i:i + 3]))
            video.write(buffer)
            buffer.zero_()
    assert file.getvalue() == on_cpu(clip)


def test_frames_stay_alive_until_they_are_read(clip, torch):
    encoder = cu264.Encoder(25, headers="every")  # as bare streams have them
    frames = torch.from_numpy(clip).cuda()
    packets = encoder.send(frames, copy=False)
    del frames
    torch.cuda.empty_cache()
    junk = [torch.full((clip.size,), 255, dtype=torch.uint8, device="cuda") for _ in range(8)]
    packets += encoder.flush()
    del junk
    assert b"".join(packet.data for packet in packets) == on_cpu(clip, container="h264")


def test_chunks_of_other_lengths(clip, torch):
    stream, cpu = cu264.StreamEncoder(25, container="h264"), cu264.StreamEncoder(25, container="h264", backend="cpu")
    frames = torch.from_numpy(clip).cuda()
    data = expected = b""
    for begin, end in ((0, 3), (3, 4), (4, 8), (8, 9)):
        data += stream.encode(frames[begin:end].clone())
        expected += cpu.encode(clip[begin:end])
    assert data + stream.close() == expected + cpu.close()


RATES = [{"crf": 21.5}, {"bitrate": 400_000, "cbr": True, "lookahead": 0}, {"bitrate": 400_000, "lookahead": 4},
         {"max_frame_bytes": 235, "on_overflow": "drop"},
         {"frame_bytes": 9000}, {"qps": [20, None, 40, 51, 30, None, None, 10, 27]}]


@pytest.mark.parametrize("settings", RATES, ids=lambda settings: "-".join(settings))
def test_rate_control(clip, torch, settings):
    noise = np.random.default_rng(8).integers(0, 80, clip.shape)
    noise[::3] = 0
    noisy = np.clip(clip + noise, 0, 255).astype(np.uint8)
    frames = torch.from_numpy(noisy).cuda()
    expected = on_cpu(noisy, container="h264", **settings)
    assert cu264.encode(frames, 25, container="h264", **settings) == expected
    qps = settings.get("qps", [None] * 9)
    options = {name: value for name, value in settings.items() if name != "qps"}
    stream = cu264.StreamEncoder(25, container="h264", **options)
    data = b"".join(stream.encode(frames[i:i + 3].clone(), qps=qps[i:i + 3]) for i in range(0, 9, 3)) + stream.close()
    assert data == expected
    group = cu264.StreamGroup(queue=9)
    with group.open(25, headers="every", **options) as camera:
        for picture, qp in zip(noisy, qps):
            assert camera.submit(torch.from_numpy(picture).cuda(), qp=qp, copy=False)
        camera.flush()
        data = b""
        while packet := camera.receive():
            data += packet.data
    assert data == expected


def test_bad_devices(clip, torch):
    frames = torch.from_numpy(clip).cuda()
    with pytest.raises(ValueError, match="backend='cpu'"):
        cu264.encode(frames, 25, backend="cpu")
    with pytest.raises(ValueError, match="device=1"):
        cu264.encode(frames, 25, device=1)
    stream = cu264.StreamEncoder(25)
    stream.encode(frames)
    with pytest.raises(ValueError, match="another device"):
        stream.encode(clip)
