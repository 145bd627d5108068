#!/usr/bin/env python3
"""Times a PyTorch tensor on the GPU to an MP4 file in memory.

    bench/tensor_to_mp4.py [--video RAW_I420 --size WxH] [--pictures 121] [--profile baseline]

Without a video the pictures are made up. The first call in the process is timed by itself; then the median of `--runs`
calls. The cu264 package must be importable. bench/tensor_peers.py has other encoders, at equal quality.
"""
import argparse
import resource
import statistics
import time

import numpy as np
import torch

START = time.perf_counter()
import cu264  # noqa: E402

IMPORT_MS = 1000 * (time.perf_counter() - START)


def from_i420(path, width, height, pictures):
    """uint8 of shape (pictures, 3, height, width) on the device, from the file's pictures in turn, each shifted."""
    size = width * height * 3 // 2
    raw = np.memmap(path, np.uint8, "r")
    count = min(len(raw) // size, pictures)
    frames = torch.empty((pictures, 3, height, width), dtype=torch.uint8, device="cuda")
    for i in range(pictures):
        picture = torch.from_numpy(np.array(raw[i % count * size:(i % count + 1) * size])).cuda().float()
        y = picture[:width * height].view(height, width) - 16
        chroma = picture[width * height:].view(2, height // 2, width // 2) - 128
        u, v = chroma.repeat_interleave(2, 1).repeat_interleave(2, 2)
        y = y * 1.164384
        rgb = torch.stack([y + 1.792741 * v, y - 0.213249 * u - 0.532909 * v, y + 2.112402 * u])
        frames[i] = torch.roll(rgb.round().clamp(0, 255), 2 * (i // count), 2).to(torch.uint8)
    return frames


def made_up(width, height, pictures):
    generator = torch.Generator("cuda").manual_seed(1)
    coarse = torch.rand((1, 3, height // 30, width // 30), device="cuda", generator=generator)
    picture = torch.nn.functional.interpolate(coarse, (height, width), mode="bicubic") * 220
    picture = picture + torch.rand((1, 3, height, width), device="cuda", generator=generator) * 20
    return torch.cat([torch.roll(picture, 2 * i, 3) for i in range(pictures)]).clamp(0, 255).to(torch.uint8)


def timed(call, runs):
    times, size = [], 0
    for _ in range(runs):
        torch.cuda.synchronize()
        start = time.perf_counter()
        size = call()
        torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times), min(times), size


def row(name, result):
    print(f"| {name} | {result[0]:.1f} | {result[1]:.1f} | {result[2] / 1e6:.2f} |", flush=True)


def phases(frames, profile, preset):
    """Prints where the time of a call goes."""
    from cu264.session import Session
    from cu264.settings import make_settings
    from cu264.video_writer import Destination

    settings = make_settings(25, profile=profile, preset=preset)
    marks = []

    def mark():
        marks.append((time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_minflt))

    mark()

    destination = Destination(None, "mp4", settings, None)
    session = Session(settings, destination.open)
    array = session.import_frames(frames)
    mark()
    session._open(array, len(array))
    mark()
    session.send(array)
    mark()
    session.flush()
    mark()
    destination.finish()
    data = destination.take()
    mark()
    del session
    mark()
    del data
    mark()
    names = ("import", "open", "send", "flush", "finish", "close", "free")
    steps = [(name, 1000 * (b[0] - a[0]), b[1] - a[1]) for name, a, b in zip(names, marks, marks[1:])]
    print(f"{preset}, ms (page faults):", ", ".join(f"{name} {ms:.1f} ({faults})" for name, ms, faults in steps))


def copies(frames, profile):
    """Bytes copied between host and device by a call, as the profiler saw them."""
    from torch import profiler as torch_profiler

    with torch_profiler.profile(activities=[torch_profiler.ProfilerActivity.CUDA]) as profiler:
        size = len(cu264.encode(frames, 25, profile=profile, preset="fast"))
        torch.cuda.synchronize()
    print(f"profile of a call: {frames.nbytes / 1e6:.0f} MB of frames, {size / 1e6:.1f} MB of file")
    for event in profiler.key_averages():
        if "memcpy" in event.key.lower():
            print(f"  {event.key}: {event.count} calls, {event.device_time_total / 1000:.2f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--video")
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--pictures", type=int, default=121)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--profile", default="baseline", help="of cu264; the published figures have %(default)s")
    arguments = parser.parse_args()
    profile = arguments.profile
    width, height = map(int, arguments.size.split("x"))
    frames = (from_i420(arguments.video, width, height, arguments.pictures) if arguments.video
              else made_up(width, height, arguments.pictures))
    torch.cuda.synchronize()
    print(f"{torch.cuda.get_device_name()}, tensor {tuple(frames.shape)} {frames.dtype}; "
          f"import cu264: {IMPORT_MS:.0f} ms")
    print("\n| way | median ms | least ms | MB |\n|---|---:|---:|---:|")
    row("cu264 fast, first call in the process", timed(lambda: len(cu264.encode(frames, 25, profile=profile, preset="fast")), 1))
    for preset in ("fast", "balanced", "best"):
        row(f"cu264 {preset}", timed(lambda: len(cu264.encode(frames, 25, profile=profile, preset=preset)), arguments.runs))
    half = (frames / 127.5 - 1).half()
    row("cu264 fast, float16 in [-1, 1]",
        timed(lambda: len(cu264.encode(half, 25, profile=profile, preset="fast", value_range=(-1, 1))), arguments.runs))
    del half
    host = frames.permute(0, 2, 3, 1).contiguous().cpu().numpy()
    row("cu264 fast, NumPy in host memory", timed(lambda: len(cu264.encode(host, 25, profile=profile, preset="fast")), 3))
    row("copy to the host alone", timed(lambda: frames.permute(0, 2, 3, 1).contiguous().cpu().nbytes, 3))
    for batch in (121, 41, 31):
        row(f"cu264 fast, batches of {batch}",
            timed(lambda: len(cu264.encode(frames, 25, profile=profile, preset="fast", batch=batch)), arguments.runs))
    print()
    for preset in ("fast", "balanced", "best"):
        phases(frames, profile, preset)
    copies(frames, profile)


if __name__ == "__main__":
    main()
