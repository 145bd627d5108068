"""Clips on a Ray cluster: a stage for Ray Data, and a command that transcodes a folder.

    import cu264.ray
    summary = cu264.ray.transcode("s3://bucket/clips", "s3://bucket/coded", preset="fast", qp=24)

    dataset = cu264.ray.encode_clips(ray.data.read_binary_files("s3://bucket/clips", include_paths=True))

This module needs `ray[data]` and PyAV; nothing else in the package imports them. `cu264.ray.curator_stage` has a stage
for NVIDIA NeMo Curator.
"""

from .clip_encoder import CodedClip, transcode_clip
from .clip_stage import ClipStage, encode_clips
from .clip_store import ClipStore
from .transcode_job import Summary, transcode

__all__ = ["ClipStage", "ClipStore", "CodedClip", "Summary", "encode_clips", "transcode", "transcode_clip"]
