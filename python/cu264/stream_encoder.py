"""Fragments as they come, for HTTP responses: StreamEncoder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

from . import _core
from .arrays import FramesOrChunks, each_array
from .guard import Guard
from .session import Session
from .settings import Changes, FrameRate, VideoSettings, documented, make_settings
from .video_writer import Destination

if TYPE_CHECKING:
    from typing_extensions import Unpack


@documented
class StreamEncoder:
    """Turns chunks of frames into pieces of a file that can be sent at once.

    Memory does not grow with the length of the stream. On a GPU, chunks of the length of the first one come back
    whole; of a chunk of another length, the pictures that do not fill a batch of that length come with the next one.
    `lookahead` is 0 here, so that none wait for the pictures of the next chunk.

    Parameters
    ----------
    fps : int, float, Fraction, str or (int, int)
        Pictures a second.
    container : {"fmp4", "h264"}, default "fmp4"
        fmp4: fragmented MP4, as browsers play it while it comes (Media Source Extensions, `<video>`), a fragment a
        chunk. h264: the bare stream.
    SETTINGS

    Examples
    --------
    >>> stream = cu264.StreamEncoder(fps=24)
    >>> for chunk in chunks:
    ...     response.write(stream.encode(chunk))
    >>> response.write(stream.close())
    """

    def __init__(self, fps: FrameRate, *, container: str = "fmp4", **settings: Unpack[VideoSettings]) -> None:
        if container not in ("fmp4", "h264"):
            raise ValueError(
                f"container must be fmp4 or h264, not {container!r}: others cannot be sent while they grow"
            )
        given: Dict[str, Any] = {"lookahead": 0, **settings}
        self._guard = Guard()
        self._looks_ahead = given["lookahead"] != 0
        made = make_settings(fps, **given).for_container(container)
        self._destination = Destination(None, container, made, None, fragment_seconds=0)
        self._session = Session(made, self._destination.open)
        self._closed = False

    def encode(
        self,
        frames: FramesOrChunks,
        *,
        qps: Optional[Sequence[Optional[int]]] = None,
        keys: Optional[Sequence[bool]] = None,
    ) -> bytes:
        """Encodes a chunk, which you may overwrite when this returns, and gives the file's next bytes.

        Parameters
        ----------
        frames : array, or iterable of arrays
        qps, keys
            As for `VideoWriter.write`.

        Returns
        -------
        bytes
            Those of the file that follow what the call before has returned.

        Raises
        ------
        TypeError, ValueError
            As `VideoWriter.write`.
        """
        with self._guard:
            self._check_open()
            arrays: List[_core.FrameArray] = []
            for each in each_array(frames):
                arrays.append(self._session.import_frames(each, arrays[0].picture_layout if arrays else None))
            count = sum(len(array) for array in arrays)
            for name, values in (("qps", qps), ("keys", keys)):
                if values is not None and len(values) != count:
                    raise ValueError(f"there are {count} frames, but {len(values)} values of {name}")
            sent = 0
            for array in arrays:
                if self._looks_ahead or (self._session.is_open and self._leaves_frames_waiting(len(array))):
                    array.copy()
                some = None if qps is None else qps[sent : sent + len(array)]
                begins = None if keys is None else keys[sent : sent + len(array)]
                self._session.send(array, expected=count, qps=some, whole=True, keys=begins)
                sent += len(array)
            self._session.finish_chunk()
            return self._bytes(self._session.take())

    def close(self) -> bytes:
        """Ends the stream.

        Returns
        -------
        bytes
            The last of the file.

        Raises
        ------
        ValueError
            The stream is closed already.
        """
        with self._guard:
            self._check_open()
            self._closed = True
            return self._bytes(self._session.flush())

    @documented
    def reconfigure(self, **changes: Unpack[Changes]) -> None:
        """Changes settings from the next chunk on. What is not given stays as it is.

        Parameters
        ----------
        CHANGES

        Raises
        ------
        TypeError, ValueError
            Another setting, a value that is out of range, or one of the next clip's once there are frames.
        """
        with self._guard:
            self._check_open()
            self._session.reconfigure(**changes)

    @property
    def mime_type(self) -> str:
        """The type for HTTP and for a browser's `addSourceBuffer`, for example 'video/mp4; codecs="avc1.641C1F"'."""
        with self._guard:
            headers = self._session.encoder.headers
        sps = headers.index(b"\x00\x00\x01\x67") + 4
        return f'video/mp4; codecs="avc1.{headers[sps : sps + 3].hex().upper()}"'

    def _leaves_frames_waiting(self, count: int) -> bool:
        encoder = self._session.encoder
        return (encoder.waiting + count) % encoder.batch != 0

    def _bytes(self, packets: Any) -> bytes:
        self._destination.write(packets)
        self._destination.end_fragment()
        return self._destination.take()

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("the stream is closed: open another one")

    def __enter__(self) -> "StreamEncoder":
        return self

    def __exit__(self, *_: Optional[Any]) -> None:
        self._closed = True
