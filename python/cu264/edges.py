"""Edges without thresholds to choose (GUD-Canny): detect and Detector.

    edges = cu264.edges.detect(pictures)  # 255 where there is an edge, else 0
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple, TypedDict, Union

from . import _core
from .arrays import Frames, stacked
from .guard import Guard
from .settings import switch

if TYPE_CHECKING:
    from typing_extensions import Unpack

Thresholds = List[List[Tuple[int, int]]]


class EdgeSettings(TypedDict, total=False):
    """What `detect` takes, for type checkers; `Detector` says what it means."""

    sigma: float
    candidates: Optional[Sequence[int]]
    partition: str
    density_scaling: bool
    thresholds: Optional[Tuple[int, int]]
    noise_floor: int
    backend: str
    device: int
    threads: int


def _new_maps(pictures: Any) -> Any:
    """An array like the pictures, made by their own package."""
    package = type(pictures).__module__.partition(".")[0]
    if package == "torch":
        return pictures.new_empty(tuple(pictures.shape))
    if package == "cupy":
        with pictures.device:
            return sys.modules["cupy"].empty(pictures.shape, "uint8")
    if package == "numpy":
        return sys.modules["numpy"].empty(pictures.shape, "uint8")
    raise TypeError("say where the edges go: out=, a uint8 array of the pictures' shape on their device")


class Detector:
    """Detects edges in pictures, and keeps its memory for the next ones of the same size.

    Parameters
    ----------
    sigma : float, default 1.4
        Of the Gaussian that smooths the picture: 0.1 to 2.0, in tenths.
    candidates : sequence of int, optional
        Thresholds to choose from, in hundredths of the largest gradient: 2 to 32 rising values from 1 to 100.
    partition : {"columns", "rows", "frame"}, default "columns"
        Where thresholds are found: for stripes of 32 columns or rows each, or for the whole picture.
    density_scaling : bool, default False
        Raises the thresholds of crowded pictures, so that only their strongest edges remain.
    thresholds : (int, int), optional
        Plain Canny with these thresholds, in hundredths, instead of a search.
    noise_floor : int, default 0
        The least gradient, in gray levels over two pixels, that counts as the picture's largest: keeps the noise of
        flat pictures from becoming edges.
    backend : {"auto", "cuda", "cpu"}, default "auto"
        For pictures in host memory; those on a device are worked on there. Both give the same edges.
    device : int, default 0
        The CUDA device for pictures in host memory.
    threads : int, default 0
        Threads of the CPU backend; 0: one a core.

    Raises
    ------
    ValueError
        A value out of range; raised when the first pictures come.
    """

    def __init__(
        self,
        *,
        sigma: float = 1.4,
        candidates: Optional[Sequence[int]] = None,
        partition: str = "columns",
        density_scaling: bool = False,
        thresholds: Optional[Tuple[int, int]] = None,
        noise_floor: int = 0,
        backend: str = "auto",
        device: int = 0,
        threads: int = 0,
    ) -> None:
        self._params = _core.EdgeParams(
            round(10 * sigma),
            None if candidates is None else [int(value) for value in candidates],
            partition,
            switch("density_scaling", density_scaling),
            None if thresholds is None else (int(thresholds[0]), int(thresholds[1])),
            int(noise_floor),
        )
        self._guard = Guard()
        self._execution = (backend, int(device), int(threads))
        self._opened_for: Optional[Tuple[Any, ...]] = None
        self._detector: Optional[_core.EdgeDetector] = None

    def detect(self, pictures: Union[Frames, Sequence[Frames]], out: Any = None) -> Any:
        """Finds the edges of pictures.

        Parameters
        ----------
        pictures : array, image of Pillow, or list of either
            uint8 of shape (H, W) or (T, H, W), in host memory or on a CUDA device; samples of a row must be adjacent.
            Images become gray ones. A list is copied into one array.
        out : array, optional
            Where the edges go: a contiguous uint8 array of the same shape on the same device. Without it an array of
            NumPy, PyTorch or CuPy is made, whichever the pictures are of.

        Returns
        -------
        array
            255 where there is an edge, else 0: `out`, or the array that was made.

        Raises
        ------
        TypeError, ValueError
            Pictures or `out` of another kind, dtype or shape; parameters out of range.
        """
        return self.detect_with_thresholds(pictures, out)[0]

    def detect_with_thresholds(self, pictures: Union[Frames, Sequence[Frames]], out: Any = None) -> Tuple[Any, Thresholds]:
        """Does what `detect` does, and returns the thresholds that were found as well.

        Parameters
        ----------
        pictures, out
            As for `detect`, and so are the errors.

        Returns
        -------
        array, list of list of (int, int)
            Lower and upper threshold for each picture and each of its stripes, in hundredths of the picture's largest
            gradient; (255, 255) where there are no edges.
        """
        if isinstance(pictures, (list, tuple)):
            pictures = stacked(pictures, gray=True)
        elif hasattr(pictures, "convert"):  # an image
            pictures = stacked([pictures], gray=True)[0]
        shape = tuple(getattr(pictures, "shape", ()))
        if len(shape) not in (2, 3):
            raise ValueError(f"pictures must have shape (H, W) or (T, H, W), not {shape}")
        frames = _core.FrameArray(pictures, "THW"[3 - len(shape) :], "gray")
        maps = _new_maps(pictures) if out is None else out
        if tuple(getattr(maps, "shape", ())) != shape:
            raise ValueError(f"out must have the shape of the pictures, {shape}")
        if len(frames) == 0:
            return maps, []
        with self._guard:
            return maps, self._open(frames).detect(frames, maps)

    def _open(self, frames: _core.FrameArray) -> _core.EdgeDetector:
        backend, device, threads = self._execution
        if frames.device is not None:
            if backend == "cpu":
                raise ValueError("pictures are on a CUDA device, but backend='cpu' reads host memory")
            backend, device = "cuda", frames.device
        wanted = (frames.width, frames.height, backend, device, threads)
        if self._detector is None or self._opened_for != wanted:
            self._detector = None  # its memory is free for the next
            self._detector = _core.EdgeDetector(self._params, *wanted, 1)
            self._opened_for = wanted
        return self._detector


def detect(pictures: Union[Frames, Sequence[Frames]], out: Any = None, **params: Unpack[EdgeSettings]) -> Any:
    """Finds the edges of pictures, with a `Detector` that is used once.

    Parameters
    ----------
    pictures, out
        As for `Detector.detect`.
    **params
        As for `Detector`.

    Returns
    -------
    array
        255 where there is an edge, else 0.

    Raises
    ------
    TypeError, ValueError
        As `Detector.detect`.

    Examples
    --------
    >>> edges = cu264.edges.detect(gray, noise_floor=8)
    """
    return Detector(**params).detect(pictures, out)
