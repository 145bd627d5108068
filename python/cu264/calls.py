"""Whole videos in one call: write_video and encode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

from .arrays import FramesOrChunks, is_array
from .audio import AudioInput, track_of
from .notices import Progress, Reporter
from .session import Session
from .settings import FrameRate, VideoSettings, documented, make_settings
from .video_writer import Destination, Target, VideoWriter, check_container

if TYPE_CHECKING:
    from typing_extensions import Unpack


def _count(frames: Any) -> Optional[int]:
    """How many pictures a list of single pictures has; None if that is not known."""
    return len(frames) if hasattr(frames, "__len__") and not is_array(frames) else None


@documented
def write_video(
    path_or_file: Target,
    frames: FramesOrChunks,
    fps: FrameRate,
    *,
    container: Optional[str] = None,
    audio: Optional[AudioInput] = None,
    qps: Optional[Sequence[Optional[int]]] = None,
    progress: Progress = False,
    **settings: Unpack[VideoSettings],
) -> None:
    """Writes a video to a file.

    Parameters
    ----------
    path_or_file : str, os.PathLike or object with write()
        As for `VideoWriter`.
    frames : array, or iterable of arrays
        An array of pictures, such as (T, H, W, 3) or (T, 3, H, W), of uint8, float16, bfloat16 or float32; or an
        iterable of such arrays or of single pictures. Host memory or a CUDA device.
    fps : int, float, Fraction, str or (int, int)
        Pictures a second.
    container, audio
        As for `VideoWriter`.
    qps
        As for `VideoWriter.write`, where `frames` is one array.
    progress : bool or callable, default False
        True shows a bar (tqdm). A callable is called now and then, with the number of pictures that have been coded and
        that of all, which is None if it is not known; what it raises ends the encoding.
    SETTINGS

    Raises
    ------
    TypeError, ValueError, OSError
        As `VideoWriter.write`. There is no file then.

    Examples
    --------
    >>> cu264.write_video("clip.mp4", frames, fps=24, qp=24)
    """
    if qps is not None and not is_array(frames):
        raise TypeError("qps= goes with one array of frames: VideoWriter.write takes those of a chunk")
    with VideoWriter(path_or_file, fps, container=container, audio=audio, **settings) as video:
        session = video._session
        array = session.import_frames(frames) if is_array(frames) else None
        reporter = Reporter(progress, _count(frames) if array is None else len(array))
        try:
            session.progress = reporter if reporter.is_wanted else None
            if array is not None:
                video._write_once(array, expected=len(array), qps=qps)
            else:
                if not hasattr(frames, "__iter__"):
                    video.write(frames)  # which says what it should be
                for chunk in frames:  # type: ignore[union-attr]
                    video.write(chunk)
            video.close()
            session.report_end()
        finally:
            reporter.close()


@documented
def encode(
    frames: FramesOrChunks,
    fps: FrameRate,
    *,
    container: str = "mp4",
    audio: Optional[AudioInput] = None,
    qps: Optional[Sequence[Optional[int]]] = None,
    progress: Progress = False,
    **settings: Unpack[VideoSettings],
) -> bytes:
    """Encodes pictures to a file in memory.

    Parameters
    ----------
    frames : array, or iterable of arrays
        Pictures, such as (T, H, W, 3) or (T, 3, H, W), of uint8, float16, bfloat16 or float32; in host memory or on a
        CUDA device, where they are read in place.
    fps : int, float, Fraction, str or (int, int)
        Pictures a second.
    container : {"mp4", "fmp4", "h264", "mkv", "ts"}, default "mp4"
        h264 is the bare stream, in Annex B form, with parameter sets before every key picture. mkv and ts need PyAV.
    audio : Audio, or (samples, sample rate), optional
        A track of AAC or Opus; `Audio.encode` says what samples may be.
    qps
        As for `VideoWriter.write`.
    progress
        As for `write_video`.
    SETTINGS

    Returns
    -------
    bytes

    Raises
    ------
    TypeError, ValueError
        As `VideoWriter.write`.

    Examples
    --------
    >>> data = cu264.encode(frames, fps=24)
    """
    check_container(container)
    made = make_settings(fps, **settings).for_container(container)
    destination = Destination(None, container, made, track_of(audio))
    session = Session(made, destination.open)
    array = session.import_frames(frames) if is_array(frames) or not hasattr(frames, "__iter__") else None
    reporter = Reporter(progress, _count(frames) if array is None else len(array))
    try:
        session.progress = reporter if reporter.is_wanted else None
        if array is not None:
            session.send(array, expected=len(array), qps=qps)
        else:
            for _ in session.write(frames, None, qps):
                destination.write(session.take())
        if not session.is_open:
            raise ValueError("there are no frames to encode")
        destination.write(session.flush())
        destination.finish()
        session.report_end()
    finally:
        reporter.close()
    return destination.take()
