"""ChunkedMP4Encoder, as vLLM-Omni has it: chunks are encoded by a thread while the model makes the next ones."""

from __future__ import annotations

import collections
import io
import logging
import threading
from typing import Any, Callable, Deque, Dict, NamedTuple, Optional

from .audio import Audio
from .compat_names import check_codec, packed, settings_of
from .video_writer import VideoWriter

logger = logging.getLogger("cu264")


class ChunkStats(NamedTuple):
    """What `ChunkedMP4Encoder.stats` returns."""

    frames: int  # that were encoded
    pending_chunks: int  # that wait, without the one that is being encoded
    pending_bytes: int  # of their samples
    peak_pending_bytes: int


class _Chunk(NamedTuple):
    frames: Any
    bytes: int
    on_consumed: Optional[Callable[[], object]]

    def release(self) -> None:
        """Gives the chunk back to its owner, whose errors are not the encoder's."""
        if self.on_consumed is not None:
            try:
                self.on_consumed()
            except Exception:
                logger.exception("the callback of a chunk that was read has failed")


class ChunkedMP4Encoder:
    """Does what vLLM-Omni's class of this name does: takes chunks of a video, gives a whole MP4 file.

    Parameters
    ----------
    width, height : int
        Of every picture.
    fps : number
    audio_waveform : array, optional
        As for `cu264.Audio.encode`, at `audio_sample_rate`, which is 44100 without it.
    max_pending : int, default 2
        Chunks that wait; `push` waits while there are as many.
    max_pending_bytes : int, optional
        What their samples may take together; a chunk that is larger waits alone.
    crf : default 18
    video_codec_options : dict, optional
        As for libx264; a preset of x264 becomes the nearest one here.
    **settings
        As for `cu264.VideoWriter`; they replace those of `crf` and `video_codec_options`.

    Notes
    -----
    Chunks are uint8 of shape (T, H, W, 3): of NumPy, or tensors on a CUDA device, which are encoded there.
    """

    def __init__(
        self,
        *,
        width: int,
        height: int,
        fps: float,
        audio_waveform: Any = None,
        audio_sample_rate: Optional[int] = None,
        max_pending: int = 2,
        video_codec: str = "h264",
        audio_codec: str = "aac",
        crf: Any = "18",
        video_codec_options: Optional[Dict[str, str]] = None,
        max_pending_bytes: Optional[int] = None,
        **settings: Any,
    ) -> None:
        if max_pending <= 0 or (max_pending_bytes is not None and max_pending_bytes <= 0):
            raise ValueError("max_pending must be positive, and so must max_pending_bytes")
        if width <= 0 or height <= 0:
            raise ValueError("width and height must be positive")
        check_codec(video_codec)
        options = settings_of({"crf": crf, **(video_codec_options or {})})
        if any(settings.get(name) is not None for name in ("qp", "crf", "bitrate")):
            options = {name: value for name, value in options.items() if name not in ("qp", "crf")}
        audio = None
        if audio_waveform is not None:
            audio = Audio.encode(audio_waveform, audio_sample_rate or 44100, codec=audio_codec)
        self.width, self.height = int(width), int(height)
        self._most = (max_pending, max_pending_bytes)
        self._file = io.BytesIO()
        self._writer = VideoWriter(self._file, fps, audio=audio, layout="THWC", **{**options, **settings})
        self._changed = threading.Condition()  # guards what follows
        self._pending: Deque[_Chunk] = collections.deque()
        self._frames = self._bytes = self._peak = 0
        self._closed = self._aborted = False
        self._error: Optional[BaseException] = None
        self._thread = threading.Thread(target=self._run, name="cu264-chunks", daemon=True)
        self._thread.start()

    def push(self, chunk: Any, *, on_consumed: Optional[Callable[[], object]] = None) -> None:
        """Queues a chunk, and waits for room. Errors of earlier chunks are raised here or by `finish`.

        `on_consumed` is called once, when the chunk was read or dropped, also if this raises.
        """
        shape = tuple(getattr(chunk, "shape", ()))
        queued = _Chunk(chunk, _bytes_of(shape), on_consumed)
        try:
            if len(shape) != 4 or shape[3] != 3:
                raise ValueError("video chunk must have shape (T, H, W, 3)")
            if str(getattr(chunk, "dtype", "")).rpartition(".")[2] != "uint8":
                raise ValueError("video chunk must have dtype uint8")
            if shape[1:3] != (self.height, self.width):
                raise ValueError("video chunks in a session must use a consistent frame size")
            with self._changed:
                self._check_open()
                self._changed.wait_for(lambda: self._closed or self._error is not None or self._has_room(queued.bytes))
                self._check_open()
                self._pending.append(queued)
                self._bytes += queued.bytes
                self._peak = max(self._peak, self._bytes)
                self._changed.notify_all()
        except BaseException:
            queued.release()
            raise

    def finish(self) -> bytes:
        """Ends the video, and returns the file. A second call returns it again."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()
        if self._error is not None:
            raise self._error
        if self._aborted:
            raise RuntimeError("ChunkedMP4Encoder was aborted")
        return self._file.getvalue()

    close = finish

    def abort(self) -> None:
        """Drops what waits, and returns when the chunk that is being encoded is done. After `finish` it does nothing."""
        with self._changed:
            self._aborted = self._aborted or not self._closed
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def stats(self) -> ChunkStats:
        """What was encoded, and what waits."""
        with self._changed:
            return ChunkStats(self._frames, len(self._pending), self._bytes, self._peak)

    def _has_room(self, bytes: int) -> bool:
        chunks, most = self._most
        return not self._pending or (len(self._pending) < chunks and (most is None or self._bytes + bytes <= most))

    def _check_open(self) -> None:
        if self._error is not None:
            raise self._error
        if self._closed:
            raise RuntimeError("ChunkedMP4Encoder is already closed")

    def _next(self) -> Optional[_Chunk]:
        """The next chunk; None at the end. Of an aborted video, and after an error, chunks are dropped."""
        with self._changed:
            self._changed.wait_for(lambda: self._pending or self._closed or self._error is not None)
            if self._aborted or self._error is not None:
                self._drop_pending()
            if not self._pending:
                return None
            chunk = self._pending.popleft()
            self._bytes -= chunk.bytes
            self._changed.notify_all()
            return chunk

    def _drop_pending(self) -> None:
        while self._pending:
            self._pending.popleft().release()
        self._bytes = 0

    def _run(self) -> None:
        try:
            for chunk in iter(self._next, None):
                try:
                    self._writer.write(packed(chunk.frames))
                finally:
                    chunk.release()
                with self._changed:
                    self._frames += int(chunk.frames.shape[0])
            if self._aborted:
                self._writer.discard()
            else:
                self._writer.close()
        except BaseException as error:
            with self._changed:
                self._error = error
                self._drop_pending()
                self._changed.notify_all()
            self._writer.discard()

    def __enter__(self) -> "ChunkedMP4Encoder":
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if kind is None:
            self.finish()
        else:
            self.abort()


def _bytes_of(shape: Any) -> int:
    count = 1
    for side in shape:
        count *= int(side)
    return count
