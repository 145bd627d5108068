#!/usr/bin/env python3
"""Other ways from a PyTorch tensor on the GPU to a file, at cu264's quality: PyAV's libx264 and torchvision's nvJPEG.

    bench/tensor_peers.py [--video RAW_I420 --size WxH] [--pictures 121]

Prints time, bytes and PSNR of each way at a few settings, then its bytes at the PSNR of cu264's fast preset,
interpolated. Times have everything in them: the copy to the host and the conversion to 4:2:0 too. The PSNR is that of luma in full
range; each file's luma is compared with the tensor's own by the matrix that its encoder converts with. PyAV decodes, so
it is needed, and torchvision for JPEG.
"""
import argparse
import io
import time

import av
import numpy as np
import torch

import cu264
from tensor_to_mp4 import from_i420, made_up, timed

BT601, BT709 = (0.299, 0.587, 0.114), (0.2126, 0.7152, 0.0722)


def luma(rgb, matrix):
    """Returns the luma of a picture of shape (3, H, W), in full range."""
    return torch.tensordot(torch.tensor(matrix, device=rgb.device), rgb.float(), 1)


def psnr(frames, lumas, matrix):
    """Over all pictures; `lumas` yields each decoded picture's luma in full range."""
    total = 0.0
    for frame, found in zip(frames, lumas, strict=True):
        total += (luma(frame, matrix) - found).square().mean().item()
    return 10 * np.log10(255 * 255 / (total / len(frames)))


def decoded_lumas(data):
    with av.open(io.BytesIO(data)) as container:
        container.streams.video[0].thread_type = "AUTO"
        for frame in container.decode(video=0):
            plane = frame.planes[0]
            y = np.frombuffer(plane, np.uint8).reshape(frame.height, plane.line_size)[:, :frame.width]
            yield (torch.from_numpy(y.copy()).cuda().float() - 16) * (255 / 219)


def x264(frames, preset, gop, qp):
    host = frames.permute(0, 2, 3, 1).contiguous().cpu().numpy()
    file = io.BytesIO()
    with av.open(file, "w", "mp4") as container:
        stream = container.add_stream("libx264", 25, options={"preset": preset, "qp": str(qp), "g": str(gop)})
        stream.height, stream.width = host.shape[1:3]
        stream.pix_fmt = "yuv420p"
        for picture in host:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    return file.getvalue()


def jpegs(frames, quality):
    from torchvision.io import encode_jpeg

    return encode_jpeg(list(frames), quality)


def jpeg_lumas(files):
    from torchvision.io import decode_jpeg

    for file in files:
        yield luma(decode_jpeg(file.cpu(), device="cuda"), BT601)


def ways(frames):
    """Name, settings from small to large, a call for each of them, matrix, and what reads its result."""
    for preset in ("fast", "balanced", "best"):
        def encode(qp, preset=preset):
            return cu264.encode(frames, 25, preset=preset, profile="baseline", qp=qp, matrix=1)

        yield f"cu264 {preset}", (27,), encode, BT709, decoded_lumas
    for preset in ("ultrafast", "veryfast"):
        for gop in (1, 250):
            def encode(qp, preset=preset, gop=gop):
                return x264(frames, preset, gop, qp)

            yield f"PyAV libx264 {preset}, GOP {gop}", (22, 27, 32), encode, BT601, decoded_lumas
    try:
        import torchvision  # noqa: F401
    except ImportError:
        print("no torchvision here")
        return
    yield "torchvision nvJPEG", (50, 75, 90), lambda quality: jpegs(frames, quality), BT601, jpeg_lumas


def keep(results, result):
    """The first result is kept, so that the others are freed as a program would free them."""
    if not results:
        results.append(result)
    return result


def size_of(result):
    return len(result) if isinstance(result, bytes) else sum(file.numel() for file in result)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--video")
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--pictures", type=int, default=121)
    arguments = parser.parse_args()
    width, height = map(int, arguments.size.split("x"))
    frames = (from_i420(arguments.video, width, height, arguments.pictures) if arguments.video
              else made_up(width, height, arguments.pictures))
    print(f"{torch.cuda.get_device_name()}, tensor {tuple(frames.shape)} {frames.dtype}; PyAV {av.__version__}, "
          f"{torch.get_num_threads()} threads")
    print("\n| way | QP or quality | ms | MB | PSNR of luma, dB |\n|---|---:|---:|---:|---:|")
    curves = {}
    for name, settings, encode, matrix, lumas in ways(frames):
        for setting in settings:
            results = []
            ms, _, size = timed(lambda: size_of(keep(results, encode(setting))), 1 if "x264" in name else 5)
            quality = psnr(frames, lumas(results[0]), matrix)
            curves.setdefault(name, []).append((quality, size / 1e6, ms))
            print(f"| {name} | {setting} | {ms:.1f} | {size / 1e6:.2f} | {quality:.2f} |", flush=True)
    goal = curves["cu264 fast"][0][0]
    print(f"\n| way | ms | MB at {goal:.2f} dB |\n|---|---:|---:|")
    for name, curve in curves.items():
        curve.sort()
        qualities, sizes, times = zip(*curve)
        if len(curve) == 1:
            print(f"| {name}, {qualities[0]:.2f} dB | {times[0]:.1f} | {sizes[0]:.2f} |")
        elif qualities[0] <= goal <= qualities[-1]:
            size = np.exp(np.interp(goal, qualities, np.log(sizes)))
            print(f"| {name} | {np.interp(goal, qualities, times):.1f} | {size:.2f} |")
        else:
            print(f"| {name} | {qualities[0]:.1f} to {qualities[-1]:.1f} dB do not hold it | |")


if __name__ == "__main__":
    start = time.perf_counter()
    main()
    print(f"\n{time.perf_counter() - start:.0f} s")
