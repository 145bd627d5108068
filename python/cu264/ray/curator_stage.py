"""A stage for NVIDIA NeMo Curator's video pipelines, in the place of its ClipTranscodingStage.

from cu264.ray.curator_stage import Cu264TranscodingStage
pipeline.add_stage(Cu264TranscodingStage(settings={"preset": "fast", "qp": 24}))
"""

from __future__ import annotations

import pathlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from nemo_curator.stages.resources import Resources
from nemo_curator.stages.video.clipping.clip_extraction_stages import ClipTranscodingStage
from nemo_curator.tasks.video import Clip

from ..probing import probe
from ..settings import make_settings
from .clip_encoder import transcode_clip


@dataclass
class Cu264TranscodingStage(ClipTranscodingStage):
    """Cuts clips out of a video and encodes them, without an FFmpeg program.

    Each clip of a task gets its file in `buffer`, with the pictures whose time lies in its span and with AAC and Opus
    audio as it is. What was wrong with a clip is in its `errors["transcode"]`.

    Parameters
    ----------
    settings : dict
        As for `cu264.VideoWriter`, such as {"qp": 24, "preset": "fast"}.
    use_gpu : bool, default True
        Whether a worker holds 1 / nb_streams_per_gpu of a GPU. Where the GPU does not work, the processor encodes, to
        the same bytes.
    num_cpus_per_worker, encode_batch_size, encoder_threads
        As in the class above: clips coded at the same time are at most as many as each of the first two says, and each
        has `encoder_threads` threads.
    """

    encoder: str = "cu264"
    name: str = "cu264_clip_transcoding"
    settings: Dict[str, Any] = field(default_factory=dict)
    use_gpu: bool = True

    def __post_init__(self) -> None:
        if self.encoder != "cu264":
            raise ValueError(f"encoder must be 'cu264', not {self.encoder!r}: ClipTranscodingStage has the others")
        if self.use_hwaccel:
            raise ValueError("use_hwaccel is not available: PyAV decodes on the processor")
        if self.use_input_bit_rate:
            raise ValueError("use_input_bit_rate is not available: choose settings={'qp': ...}")
        make_settings(**{"fps": 25, **self.settings})  # so that mistakes show before anything runs
        if self.use_gpu:
            self.resources = Resources(gpus=1 / max(1, self.nb_streams_per_gpu))
        else:
            self.resources = Resources(cpus=self.num_cpus_per_worker)

    def setup(self, worker_metadata: Any = None) -> None:
        self._chosen = {"threads": self.encoder_threads, **self.settings}
        if not self.use_gpu:
            self._chosen["backend"] = "cpu"
        elif self._chosen.get("backend", "auto") == "auto":
            self._chosen["backend"] = probe().backend

    def _extract_clips(
        self,
        working_dir: pathlib.Path,
        video_filename: str,
        *,
        force_pix_fmt: bool,  # pictures always become 4:2:0 of 8 bits
        use_bit_rate: Optional[str],
        clips: List[Clip],
    ) -> None:
        def extract(clip: Clip) -> None:
            try:
                clip.buffer = transcode_clip(working_dir / video_filename, span=clip.span, **self._chosen).data
            except Exception as error:  # noqa: BLE001 - a clip that fails must not end the others
                clip.errors["transcode"] = f"{type(error).__name__}: {error}"

        at_once = max(1, min(self.encode_batch_size, int(self.num_cpus_per_worker)))
        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(extract, clips))
