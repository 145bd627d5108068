"""A folder of clips to another, and a ledger of what became of each."""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence

import ray

from .clip_encoder import check_clip_settings
from .clip_stage import RESULTS, ClipStage, encode_clips, output_name
from .clip_store import PRIVATE, VIDEO_SUFFIXES, ClipFile, ClipStore

#: Where the ledger lies in the output folder: a JSON object a line, one for each clip.
LEDGER = f"{PRIVATE}/ledger.jsonl"

_CLIPS_A_BLOCK = 16  # what is tried again when a worker dies
_BLOCKS = 4096  # at most, because Ray's driver knows each


@dataclass
class Summary:
    """The result of `transcode`.

    Attributes
    ----------
    clips : int
        Inputs.
    encoded, present, failed : int
        What became of them; present ones had been coded before, from the same input with the same settings.
    lost : list of str
        Inputs without a line in the ledger, or whose output is not there or has another size than the ledger says.
    twice : list of str
        Inputs with more than one line.
    errors : dict
        What was wrong with failed clips, by name.
    frames, bytes : int
        Of the outputs.
    seconds : float
    leftovers : int
        Temporary files of workers that died, which were removed.
    stats : str
        Ray's account of the execution.
    """

    clips: int = 0
    encoded: int = 0
    present: int = 0
    failed: int = 0
    lost: List[str] = field(default_factory=list)
    twice: List[str] = field(default_factory=list)
    errors: Dict[str, str] = field(default_factory=dict)
    frames: int = 0
    bytes: int = 0
    seconds: float = 0.0
    leftovers: int = 0
    stats: str = ""

    @property
    def ok(self) -> bool:
        return not (self.failed or self.lost or self.twice)

    def __str__(self) -> str:
        rate = self.frames / self.seconds if self.seconds and not self.present else 0
        text = (
            f"{self.clips} clips: {self.encoded} encoded, {self.present} there already, {self.failed} failed, "
            f"{len(self.lost)} lost, {len(self.twice)} twice; {self.frames} pictures, {self.bytes} bytes, "
            f"{self.seconds:.1f} s"
        )
        return text + (f", {rate:.0f} pictures a second" if rate else "")


def transcode(
    in_uri: str,
    out_uri: str,
    *,
    in_filesystem: Any = None,
    out_filesystem: Any = None,
    suffixes: Sequence[str] = VIDEO_SUFFIXES,
    container: str = "mp4",
    keep_audio: bool = True,
    workers: Optional[int] = None,
    num_cpus: float = 1,
    num_gpus: Optional[float] = None,
    batch_size: int = 8,
    stage: Any = ClipStage,
    **settings: Any,
) -> Summary:
    """Transcodes every clip below a folder, or one file, on the Ray cluster that `ray.init` has found.

    The outputs have the inputs' names below `out_uri`, with the container's suffix. They appear complete or not at all.
    Clips that are there, of the same input and settings, are left as they are, so that the same call finishes what was
    interrupted. `out_uri`/_cu264/ledger.jsonl says what became of each clip.

    Parameters
    ----------
    in_uri, out_uri : str
        Paths, or URIs that pyarrow or fsspec open: s3://bucket/folder, gs://bucket/folder. Every node must reach them.
    in_filesystem, out_filesystem : pyarrow.fs.FileSystem or fsspec.AbstractFileSystem, optional
        File systems that the URIs are paths in.
    suffixes : sequence of str
        Which files are clips.
    container, keep_audio, workers, num_cpus, num_gpus, batch_size, stage, **settings
        As for `encode_clips`.

    Returns
    -------
    Summary

    Raises
    ------
    FileNotFoundError
        There is no input folder.
    ValueError
        A setting is wrong, one folder lies in the other, or two inputs would have the same output.
    """
    check_clip_settings(settings)
    source, output = ClipStore(in_uri, in_filesystem), ClipStore(out_uri, out_filesystem)
    if not source.exists():
        raise FileNotFoundError(f"{in_uri}: there is no such folder or file")
    if source.overlaps(output):
        raise ValueError(f"{out_uri} and {in_uri} must not lie in each other: outputs would be inputs of the next run")
    files = source.files(suffixes)
    _check_names(files, container)
    run = uuid.uuid4().hex
    begin = time.monotonic()
    rows: List[Dict[str, Any]] = []
    stats = ""
    if files:
        items = [{"name": file.name, "path": file.name, "size": file.size, "version": file.version} for file in files]
        blocks = min(_BLOCKS, -(-len(items) // _CLIPS_A_BLOCK))
        dataset = encode_clips(
            ray.data.from_items(items, override_num_blocks=blocks),
            output,
            source=source,
            run=run,
            container=container,
            keep_audio=keep_audio,
            workers=workers,
            num_cpus=num_cpus,
            num_gpus=num_gpus,
            batch_size=batch_size,
            stage=stage,
            **settings,
        )
        for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
            rows.extend(batch.to_pylist())
        stats = dataset.stats()
    summary = check_ledger(files, rows, output)
    summary.seconds = time.monotonic() - begin
    summary.stats = stats
    summary.leftovers = output.clear_temporary(run)
    lines = [json.dumps({key: row[key] for key in ("name", "output", *RESULTS)}) + "\n" for row in rows]
    output.put(LEDGER, "".join(sorted(lines)).encode(), run)
    output.clear_temporary(run)
    return summary


def check_ledger(files: Sequence[ClipFile], rows: Sequence[Dict[str, Any]], output: ClipStore) -> Summary:
    """Compares inputs, rows of the ledger and the files that are in the output folder."""
    counts = Counter(row["name"] for row in rows)
    there = {output.path(file.name): file.size for file in output.files()}
    summary = Summary(clips=len(files))
    summary.lost = [file.name for file in files if not counts[file.name]]
    summary.twice = sorted(name for name, count in counts.items() if count > 1)
    for row in rows:
        if row["status"] == "failed":
            summary.failed += 1
            summary.errors[row["name"]] = row["error"]
            continue
        if there.get(row["output"]) != row["bytes"]:
            summary.lost.append(row["name"])
        summary.encoded += row["status"] == "encoded"
        summary.present += row["status"] == "present"
        summary.frames += row["frames"]
        summary.bytes += row["bytes"]
    return summary


def _check_names(files: Sequence[ClipFile], container: str) -> None:
    first: Dict[str, str] = {}
    for file in files:
        name = output_name(file.name, container)
        other = first.setdefault(name, file.name)
        if other != file.name:
            raise ValueError(
                f"{other} and {file.name} would both be written to {name}: rename one, or choose with suffixes"
            )
