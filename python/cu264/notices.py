"""What users are told beside results: the logger "cu264", warnings and progress."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from typing import Any, Callable, Optional, Union

#: Says which encoder was opened, and which files were written.
logger = logging.getLogger("cu264")
logger.addHandler(logging.NullHandler())

Progress = Union[bool, Callable[[int, Optional[int]], object]]

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def warn(message: str) -> None:
    """Warns in the line of the caller's program that called this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)


class Reporter:
    """Tells how many pictures have been coded: to a callable, or to a bar of tqdm.

    Parameters
    ----------
    progress : bool or callable
        A callable takes the number of pictures that have been coded and that of all, which is None if it is not known.
    total : int, optional
    """

    def __init__(self, progress: Progress, total: Optional[int]) -> None:
        self._total = total
        self._bar: Any = None
        self._call: Optional[Callable[[int, Optional[int]], object]] = None
        if progress is True:
            try:
                from tqdm.auto import tqdm  # type: ignore[import-untyped, import-not-found, unused-ignore]
            except ImportError as error:
                raise ImportError("progress=True needs tqdm: pip install tqdm, or give a callable") from error
            self._bar = tqdm(total=total, unit="picture")
        elif callable(progress):
            self._call = progress
        elif progress:
            raise TypeError(f"progress must be True, False or a callable, not {progress!r}")

    @property
    def is_wanted(self) -> bool:
        return self._bar is not None or self._call is not None

    def __call__(self, done: int) -> None:
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
        elif self._call is not None:
            self._call(done, self._total)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
