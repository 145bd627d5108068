"""Videos of NVIDIA Dynamo's diffusion workers as H.264 of cu264, in the place of Dynamo's own VP9.

    import dynamo_video
    dynamo_video.install(crf=21)        # before the worker serves

Dynamo encodes what a model has made with one function, `encode_to_video_bytes`. Its images hold no encoder of H.264, of
hardware or otherwise; cu264 brings its own, for the GPU that the model runs on.
"""
import functools
import os
import sys

import cu264


def encode_to_video_bytes(frames, fps=16, output_format="mp4", **settings):
    """As `dynamo.common.utils.video_utils` has it. Frames are (T, H, W, 3), uint8, or a tensor on the GPU.

    `settings` are those of cu264.encode.
    """
    if output_format != "mp4":
        raise ValueError(f"H.264 goes into mp4, not into {output_format!r}")
    return cu264.encode(frames, fps, container="mp4", **settings)


def encode_to_mp4(frames, output_dir, request_id, fps=16, **settings):
    """The same to a file, whose path is returned."""
    os.makedirs(output_dir, exist_ok=True)
    path = os.path.join(output_dir, f"{request_id}.mp4")
    cu264.write_video(path, frames, fps, **settings)
    return path


def install(**settings):
    """Puts both functions in the place of Dynamo's, also in modules that have imported them already."""
    from dynamo.common.utils import video_utils

    for ours in (encode_to_video_bytes, encode_to_mp4):
        theirs = getattr(video_utils, ours.__name__)
        replacement = functools.partial(ours, **settings)
        for module in list(sys.modules.values()):
            if getattr(module, ours.__name__, None) is theirs:
                setattr(module, ours.__name__, replacement)
