"""Objects among threads and processes: the lock of each, and what happens when the interpreter ends."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from typing import Any

from . import _core


class Guard:
    """The lock of an object. `with` waits until no other thread uses it.

    A child made by fork() has neither the threads nor the files of its parent, so that it may drop an object of it but
    not use it.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process = os.getpid()

    @property
    def is_ours(self) -> bool:
        """Whether this process made the object."""
        return os.getpid() == self._process

    def __enter__(self) -> None:
        if not self.is_ours:
            raise RuntimeError("this object belongs to the process that forked this one: make another one here")
        self._lock.acquire()

    def __exit__(self, *_: Any) -> None:
        self._lock.release()


#: Files that were begun; what is not finished when the interpreter ends is removed.
unfinished: "weakref.WeakSet[Any]" = weakref.WeakSet()


@atexit.register
def _end() -> None:
    _core.end_other_threads()
    for file in list(unfinished):
        file.remove_temporary()
