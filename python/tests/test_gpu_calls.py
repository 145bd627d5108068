"""Groups, event loops, edges, protection and other packages' calls with frames on a CUDA device, where there is one."""

import asyncio

import numpy as np
import pytest

import cu264
from cu264 import protect
from cu264.compat import CreateEncoder, FragmentedMP4VideoEncoder, VideoEncoder
from conftest import moving_pictures, require_cuda

require_cuda()


def alone(frames, **settings):
    return b"".join(packet.data for packet in cu264.Encoder(25, backend="cpu", **settings).packets(frames))


@pytest.mark.parametrize("copy", [True, False])
def test_a_group_of_cameras(clip, torch, copy):
    group = cu264.StreamGroup(queue=len(clip))
    streams = [group.open(25, qp=20 + i, preset="fast") for i in range(8)]
    buffer = torch.empty(clip.shape[1:], dtype=torch.uint8, device="cuda")
    side = torch.cuda.Stream()
    found = {stream: b"" for stream in streams}
    with torch.cuda.stream(side):
        for picture in clip:
            for i, stream in enumerate(streams):
                torch.cuda._sleep(100_000)
                source = torch.from_numpy(np.roll(picture, i, axis=1)).cuda()
                if copy:
                    buffer.copy_(source)
                    assert stream.submit(buffer)
                    buffer.zero_()  # overwritten right after
                else:
                    assert stream.submit(source, copy=False)
                    del source  # the group keeps it
    for _ in range(len(clip) * len(streams)):
        stream, packet, error = group.receive_any(timeout=30)
        assert error is None
        found[stream] += packet.data
    for i, stream in enumerate(streams):
        assert stream.backend == "cuda"
        assert found[stream] == alone(np.roll(clip, i, axis=2), qp=20 + i, preset="fast")
    for stream in streams:
        stream.close()


def test_async_for(clip, torch):
    frames = torch.from_numpy(np.concatenate([clip] * 6)).cuda()

    async def collect():
        return b"".join([packet.data async for packet in cu264.Encoder(25, batch=8).packets(frames)])

    async def main():
        return await asyncio.gather(collect(), collect())

    expected = alone(np.concatenate([clip] * 6))
    assert asyncio.run(main()) == [expected, expected]


def test_clips_of_other_sizes(clip, torch):
    encoder = cu264.Encoder(25)
    for frames in (clip, moving_pictures(4, 34, 50), moving_pictures(3, 130, 150)):
        packets = list(encoder.packets(torch.from_numpy(frames).cuda()))
        assert b"".join(packet.data for packet in packets) == alone(frames)
    assert encoder.backend == "cuda"


def test_edges(torch, cupy):
    pictures = np.random.default_rng(4).integers(0, 255, (3, 60, 96), dtype=np.uint8)
    expected, thresholds = cu264.edges.Detector(backend="cpu").detect_with_thresholds(pictures)
    assert expected.any()
    detector = cu264.edges.Detector()
    buffer = torch.zeros((3, 60, 96), dtype=torch.uint8, device="cuda")
    source = torch.from_numpy(pictures).cuda()
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(2_000_000)
        buffer.copy_(source)
        maps, found = detector.detect_with_thresholds(buffer)
        assert maps.is_cuda and np.array_equal(maps.cpu().numpy(), expected) and found == thresholds
    out = cupy.empty((3, 60, 96), "uint8")
    assert cu264.edges.detect(cupy.asarray(pictures), out) is out
    assert np.array_equal(out.get(), expected)
    assert np.array_equal(cu264.edges.detect(pictures, backend="cuda"), expected)
    with pytest.raises(ValueError, match="on their device"):
        detector.detect(source, np.empty((3, 60, 96), np.uint8))
    assert torch.ones(3, device="cuda").sum().item() == 3


def test_protection(clip, torch):
    key = protect.Key.random()
    noisy = np.clip(clip + np.random.default_rng(1).integers(0, 60, clip.shape), 0, 255).astype(np.uint8)
    frames = torch.from_numpy(noisy).cuda()
    sealed = cu264.encode(frames, 25, container="h264", encryption=protect.Encryption(key, "signs,modes,codewords"))
    again = protect.encrypt(protect.decrypt(sealed, key), key)
    assert len(sealed) == len(again) and sealed != again
    marked = cu264.encode(frames, 25, container="h264", watermark=protect.Watermark(key, b"c", density=65536))
    assert protect.extract_watermark(marked, key) == b"c"


def test_vle():
    data = np.random.default_rng(3).geometric(0.1, 200_000).clip(0, 255).astype(np.uint8).tobytes()
    packed = cu264.vle.compress(data, backend="cuda")
    assert packed == cu264.vle.compress(data, backend="cpu") and cu264.vle.expand(packed, backend="cuda") == data


def test_torchcodecs_call(clip, torch):
    tensor = torch.from_numpy(clip).cuda().permute(0, 3, 1, 2).contiguous()
    data = VideoEncoder(tensor, frame_rate=25).to_tensor("mp4", crf=24)
    assert data.numpy().tobytes() == cu264.encode(clip, 25, crf=24, backend="cpu")


def test_vllm_omnis_call(clip, torch):
    tensor = (torch.from_numpy(clip).cuda().permute(3, 0, 1, 2).float() / 127.5 - 1).bfloat16()
    own = FragmentedMP4VideoEncoder(fps=25, backend="cpu")
    encoder = FragmentedMP4VideoEncoder(fps=25)
    assert encoder.encode(tensor.contiguous()) + encoder.close() == own.encode(tensor.cpu().contiguous()) + own.close()


def test_pynvvideocodecs_call(cupy):
    frames = np.random.default_rng(2).integers(16, 236, (6, 96, 64), dtype=np.uint8)
    expected = [packet.data for packet in
                cu264.Encoder(30, qp=28, headers="every", pixel_format="nv12", backend="cpu").packets(frames)]

    class Surface:
        """Planes told one by one, as PyNvVideoCodec's samples have them."""

        def __init__(self, array):
            self.array = array

        def cuda(self):
            return [self.array[:64].reshape(64, 64, 1), self.array[64:].reshape(32, 32, 2)]

    stream = cupy.cuda.Stream(non_blocking=True)
    for wrap, options in ((lambda array: array, {}), (Surface, {"cudastream": stream.ptr})):
        with stream:
            encoder = CreateEncoder(64, 64, "NV12", False, codec="h264", constqp=28, gpu_id=0, **options)
            pictures = []
            for frame in frames:
                pictures += encoder.Encode(wrap(cupy.asarray(frame)))
            pictures += encoder.EndEncode()
        assert [picture["data"] for picture in pictures] == expected
