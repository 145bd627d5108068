"""The stage: a class for Ray Data's map_batches, and encode_clips, which places it on a data set."""

from __future__ import annotations

import hashlib
import json
import posixpath
import time
import uuid
from typing import Any, Callable, Dict, List, Optional

import numpy as np
import ray
from ray.data import ActorPoolStrategy, Dataset
from ray.util.metrics import Counter, Histogram

from .. import __version__
from ..probing import probe
from ..settings import make_settings
from ..video_writer import check_container
from .clip_encoder import CodedClip, encode_frames, transcode_clip
from .clip_store import PRIVATE, ClipStore, open_filesystem

#: What the stage adds to a row, besides the clip or its place.
RESULTS = ("status", "frames", "bytes", "sha256", "backend", "audio", "seconds", "commit", "node", "worker", "error")

# These decide where a clip is coded, and not one bit of it.
_WITHOUT_EFFECT = ("backend", "device", "batch", "threads")
_ATTEMPTS = 3  # at reading or writing a clip, when a file system fails


class ClipStage:
    """Takes batches of clips and gives batches of coded clips; for `Dataset.map_batches` with `batch_format="numpy"`.

    A row has `frames` (an array of pictures, with `fps`), or `bytes` (a file), or `path` (a file's path or URI). Other
    columns are kept. Each row gets `status` ("encoded", "present" or "failed"), `frames`, `bytes` (their number),
    `sha256`, `backend`, `audio`, `seconds`, `commit`, `node`, `worker` and `error`, and `clip`, the coded file; or with
    a store `output`, where the file lies. A clip that cannot be coded is "failed" and says why in `error`, and the
    others go on.

    With a store, rows have a `name`, which names the output. A clip is written under a temporary name and renamed, and
    then a record of it, in the same way. A clip whose record and file are there, of the same input and settings, is
    "present" and is not coded again. So a batch may be tried any number of times.

    Parameters
    ----------
    output : ClipStore, optional
        Where clips are written; without it they are in the rows.
    source : ClipStore, optional
        Where `path` lies.
    run : str, optional
        Names the folder of temporary files.
    container : {"mp4", "fmp4", "h264"}, default "mp4"
    keep_audio : bool, default True
    gpu : bool, default False
        Whether Ray has given the worker a GPU or a part of one. Where it does not work, the processor codes the clips,
        to the same bytes, unless the settings say backend="cuda". With False no GPU is touched.
    settings : dict, optional
        As for `cu264.VideoWriter`, and `fps` for frames.
    """

    def __init__(
        self,
        output: Optional[ClipStore] = None,
        source: Optional[ClipStore] = None,
        run: Optional[str] = None,
        container: str = "mp4",
        keep_audio: bool = True,
        gpu: bool = False,
        settings: Optional[Dict[str, Any]] = None,
    ) -> None:
        self._output = output
        self._source = source
        self._run = run or uuid.uuid4().hex
        self._container = container
        self._keep_audio = keep_audio
        self._settings = dict(settings or {})
        self._fps = self._settings.pop("fps", None)
        deciding = {name: value for name, value in self._settings.items() if name not in _WITHOUT_EFFECT}
        self._recipe = repr((__version__, container, keep_audio, str(self._fps), sorted(deciding.items())))
        self._falls_back = gpu and self._settings.get("backend", "auto") == "auto"
        if self._falls_back:
            self._settings["backend"] = probe().backend
        elif not gpu:
            self._settings["backend"] = "cpu"
        context = ray.get_runtime_context() if ray.is_initialized() else None
        self._node = context.get_node_id() if context else ""
        self._worker = (context.get_actor_id() if context else None) or ""
        tags = ("status", "backend")
        self._clips = Counter("cu264_clips", "Clips that the stage has finished.", tag_keys=tags)
        self._frames = Counter("cu264_frames", "Pictures that the stage has coded.", tag_keys=tags)
        self._bytes = Counter("cu264_bytes", "Bytes of clips that the stage has coded.", tag_keys=tags)
        self._seconds = Histogram(
            "cu264_clip_seconds",
            "Seconds a clip, from reading to writing.",
            boundaries=[0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300],
            tag_keys=tags,
        )

    def __call__(self, batch: Dict[str, Any]) -> Dict[str, Any]:
        rows = [dict(zip(batch, values)) for values in zip(*batch.values())]
        results = [self.process(row) for row in rows]
        kept = {name: column for name, column in batch.items() if name not in ("frames", "bytes")}
        return {**kept, **{name: _column([result[name] for result in results]) for name in self._row()}}

    def process(self, row: Dict[str, Any]) -> Dict[str, Any]:
        """Codes the clip of a row and returns the columns that it gets."""
        begin = time.monotonic()
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                result = self._finished(row)
                break
            except Exception as error:  # noqa: BLE001 - a clip that fails must not end the others
                lasting = not isinstance(error, OSError) or isinstance(error, (FileNotFoundError, PermissionError))
                if lasting or attempt == _ATTEMPTS:
                    result = self._row(status="failed", error=f"{type(error).__name__}: {error}")
                    break
                time.sleep(0.5 * attempt)
        result["seconds"] = time.monotonic() - begin
        tags = {"status": result["status"], "backend": result["backend"] or "none"}
        self._clips.inc(tags=tags)
        if result["status"] == "encoded":
            self._frames.inc(result["frames"], tags)
            self._bytes.inc(result["bytes"], tags)
        self._seconds.observe(max(result["seconds"], 1e-6), tags)
        return result

    def encode(self, row: Dict[str, Any]) -> CodedClip:
        """Codes the clip of a row. A GPU that fails is replaced by the processor, to the same bytes."""
        try:
            return self._encode(row, self._settings)
        except (RuntimeError, MemoryError):
            if not self._falls_back or self._settings["backend"] == "cpu":
                raise
            return self._encode(row, {**self._settings, "backend": "cpu", "device": None})

    def _encode(self, row: Dict[str, Any], settings: Dict[str, Any]) -> CodedClip:
        if "frames" in row:
            fps = row.get("fps", self._fps)
            if fps is None:
                raise ValueError("frames need their number a second: a column fps, or fps=")
            return encode_frames(np.asarray(row["frames"]), fps, container=self._container, **settings)
        common = {"container": self._container, "keep_audio": self._keep_audio, **settings}
        if "bytes" in row:
            return transcode_clip(bytes(row["bytes"]), **common)
        if "path" not in row:
            raise ValueError("a row needs a column frames, bytes or path")
        if self._source is not None:
            with self._source.open(row["path"]) as file:
                return transcode_clip(file, **common)
        system, path = open_filesystem(str(row["path"]))
        with system.open_input_file(path) as file:
            return transcode_clip(file, **common)

    def _finished(self, row: Dict[str, Any]) -> Dict[str, Any]:
        if self._output is None:
            return self._row(self.encode(row), commit=uuid.uuid4().hex)
        if "name" not in row:
            raise ValueError("clips that are written to a folder need a column name")
        name = output_name(str(row["name"]), self._container)
        fingerprint = self._fingerprint(row)
        record_name = f"{PRIVATE}/records/{name}.json"
        record = _parsed(self._output.read(record_name))
        if record.get("fingerprint") == fingerprint:
            file = self._output.find(name)
            if file is not None and file.size == record["bytes"]:
                return self._row(**{key: record[key] for key in RESULTS}, output=record["output"]) | {
                    "status": "present"
                }
        clip = self.encode(row)
        self._output.put(name, clip.data, self._run)
        result = self._row(clip, output=self._output.path(name), commit=uuid.uuid4().hex)
        record = json.dumps({"name": name, "fingerprint": fingerprint, **result})
        self._output.put(record_name, record.encode(), self._run)
        return result

    def _row(self, clip: Optional[CodedClip] = None, output: Optional[str] = None, **values: Any) -> Dict[str, Any]:
        row = {
            "status": "encoded",
            "frames": 0,
            "bytes": 0,
            "sha256": "",
            "backend": "",
            "audio": "",
            "seconds": 0.0,
            "commit": "",
            "node": self._node,
            "worker": self._worker,
            "error": "",
            **values,
        }
        if clip is not None:
            row.update(
                frames=clip.frames,
                bytes=len(clip.data),
                backend=clip.backend,
                audio=clip.audio,
                sha256=hashlib.sha256(clip.data).hexdigest(),
            )
        if self._output is not None:
            row["output"] = output or ""
        else:
            row["clip"] = clip.data if clip else None
        return row

    def _fingerprint(self, row: Dict[str, Any]) -> str:
        """Returns the digest of the input and of the settings that decide bits."""
        digest = hashlib.sha256(self._recipe.encode())
        if "frames" in row:
            frames = np.ascontiguousarray(row["frames"])
            digest.update(repr((frames.shape, str(frames.dtype), str(row.get("fps")))).encode())
            digest.update(frames)
        elif "bytes" in row:
            digest.update(row["bytes"])
        else:
            digest.update(repr((str(row.get("path")), int(row.get("size", -1)), str(row.get("version")))).encode())
        return digest.hexdigest()


def output_name(name: str, container: str) -> str:
    """The name of the coded clip: the input's, with the container's suffix."""
    return posixpath.splitext(name)[0] + (".h264" if container == "h264" else ".mp4")


def _parsed(record: Optional[bytes]) -> Dict[str, Any]:
    """A record; an empty one if there is none, or a machine that lost its power left none that can be read."""
    try:
        return json.loads(record or b"{}")
    except ValueError:
        return {}


def _column(values: List[Any]) -> np.ndarray:
    # NumPy would make arrays of fixed length of bytes, and cut their zeros off.
    if values and isinstance(values[0], (bytes, str, type(None))):
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column
    return np.asarray(values)


def encode_clips(
    dataset: Dataset,
    output: Optional[Any] = None,
    *,
    source: Optional[ClipStore] = None,
    run: Optional[str] = None,
    container: str = "mp4",
    keep_audio: bool = True,
    workers: Optional[int] = None,
    num_cpus: float = 1,
    num_gpus: Optional[float] = None,
    batch_size: int = 8,
    stage: Callable[..., Any] = ClipStage,
    **settings: Any,
) -> Dataset:
    """Encodes the clips of a data set, on a pool of actors.

    Parameters
    ----------
    dataset : ray.data.Dataset
        Rows with `frames` and `fps`, or `bytes`, or `path`; see `ClipStage`. `ray.data.read_binary_files` gives such
        rows.
    output : str or ClipStore, optional
        A folder for the clips, each named by its row's column `name`, a relative path of its own; without it they are
        in the column `clip`.
    source, run, container, keep_audio
        As for `ClipStage`.
    workers : int, optional
        Actors; without it, from one to as many as the cluster has room for.
    num_cpus : float, default 1
        Processor cores of an actor, and threads that it decodes and encodes with.
    num_gpus : float, optional
        The part of a GPU that an actor holds. Without it: a quarter where the cluster has GPUs, else 0, which means the
        processor.
    batch_size : int, default 8
        Clips that an actor takes at once.
    stage : type, default ClipStage
        A class derived from it.
    **settings
        As for `cu264.VideoWriter`, such as qp=24 or preset="fast"; and fps= for frames.

    Returns
    -------
    ray.data.Dataset
        Lazy, as Ray's data sets are: it is computed when it is read or written.
    """
    check_container(container)
    settings.setdefault("threads", max(1, int(num_cpus)))
    make_settings(**{"fps": 25, **settings})  # so that mistakes show before anything runs
    if num_gpus is None:
        backend_is_cpu = settings.get("backend") == "cpu"
        num_gpus = 0.25 if not backend_is_cpu and ray.is_initialized() and ray.cluster_resources().get("GPU") else 0
    if settings.get("backend") == "cuda" and not num_gpus:
        raise ValueError("backend='cuda' needs a GPU for each worker: say num_gpus=, or leave out backend=")
    if isinstance(output, str):
        output = ClipStore(output)
    pool = (
        ActorPoolStrategy(min_size=1)
        if workers is None
        else ActorPoolStrategy(min_size=1, max_size=workers, initial_size=workers)
    )
    arguments = {
        "output": output,
        "source": source,
        "run": run,
        "container": container,
        "keep_audio": keep_audio,
        "gpu": num_gpus > 0,
        "settings": settings,
    }
    return dataset.map_batches(
        stage,
        fn_constructor_kwargs=arguments,
        batch_size=batch_size,
        batch_format="numpy",
        compute=pool,
        num_cpus=num_cpus,
        num_gpus=num_gpus or None,
    )
