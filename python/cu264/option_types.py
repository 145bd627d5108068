"""The types of the options' keywords, for type checkers.

Made by scripts/update-options from the library's table of options, encoder/options/; None is the default everywhere.
"""

from __future__ import annotations

from typing import Optional, TypedDict, Union

from .frame_rate import FrameRate


class CodingOptions(TypedDict, total=False):
    """Those of every call that encodes."""

    qp: Optional[int]
    crf: Optional[float]
    max_bitrate: Optional[Union[float, str]]
    buffer_bits: Optional[Union[float, str]]
    cbr: Optional[bool]
    timed_bitrate: Optional[bool]
    lookahead: Optional[int]
    max_frame_bytes: Optional[int]
    frame_bytes: Optional[int]
    on_overflow: Optional[str]
    preset: Optional[str]
    profile: Optional[str]
    cavlc: Optional[bool]
    pipeline: Optional[str]
    entropy: Optional[str]
    packing: Optional[str]
    cqm: Optional[str]
    slices: Optional[int]
    gop: Optional[int]
    scene_cuts: Optional[bool]
    edge_guided: Optional[int]
    edge_thresholds: Optional[str]
    aq: Optional[str]
    aq_strength: Optional[int]
    level: Optional[str]
    deblock: Optional[bool]
    device: Optional[int]
    sample_aspect_ratio: Optional[FrameRate]
    full_range: Optional[bool]
    primaries: Optional[Union[int, str]]
    transfer: Optional[Union[int, str]]
    matrix: Optional[Union[int, str]]
    chroma_location: Optional[int]
    headers: Optional[str]


class BitrateOption(TypedDict, total=False):
    """The bitrate, which some calls have under a meaning of their own."""

    bitrate: Optional[Union[float, str]]


class ExecutionOptions(TypedDict, total=False):
    """Those of a whole group of streams."""

    backend: Optional[str]
    batch: Optional[int]
    threads: Optional[int]


class Changes(TypedDict, total=False):
    """What `Encoder.reconfigure` changes."""

    qp: Optional[int]
    crf: Optional[float]
    bitrate: Optional[Union[float, str]]
    max_bitrate: Optional[Union[float, str]]
    buffer_bits: Optional[Union[float, str]]
    max_frame_bytes: Optional[int]
    preset: Optional[str]
