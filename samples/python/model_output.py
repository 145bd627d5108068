#!/usr/bin/env python3
"""Writes what a video model gives to a file: model_output.py [FILE.mp4]

The tensor is that of a diffusion model's decoder: (T, C, H, W) in [-1, 1], on the GPU if there is one. It is encoded
where it is. Without PyTorch, NumPy draws the same.
"""
import sys

import cu264

try:
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
except ImportError:
    torch = None
    import numpy


def model(pictures=48, height=270, width=480):
    """Coloured waves."""
    if torch is not None:
        t, y, x = (torch.arange(n, device=device, dtype=torch.float32) for n in (pictures, height, width))
        sin, stack = torch.sin, torch.stack
    else:
        t, y, x = (numpy.arange(n, dtype=numpy.float32) for n in (pictures, height, width))
        sin, stack = numpy.sin, numpy.stack
    t, y, x = t[:, None, None], y[None, :, None], x[None, None, :]
    return stack([sin(x / 31 + t / 7) + 0 * y, sin(y / 23 - t / 9) + 0 * x, sin((x + y) / 41 + t / 5)], 1)


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else "model_output.mp4"
    frames = model()
    cu264.write_video(path, frames, fps=24, qp=22, value_range=(-1, 1))
    print(f"{path}: {tuple(frames.shape)} of {frames.dtype}, encoded by {cu264.probe().backend}")
