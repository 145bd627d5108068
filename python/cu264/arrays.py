"""What counts as an array of frames, and what as an iterable of them."""

from __future__ import annotations

import array
from typing import TYPE_CHECKING, Any, AsyncIterable, Dict, Iterable, Iterator, Protocol, Union

if TYPE_CHECKING:
    from typing_extensions import Buffer


class _WithDlpack(Protocol):
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


class _WithCudaInterface(Protocol):
    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]: ...


class _WithArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> Any: ...


#: An array of pictures: of NumPy, PyTorch, CuPy, JAX, a memoryview, or an image of Pillow.
Frames = Union[_WithDlpack, _WithCudaInterface, _WithArrayInterface, "Buffer"]
#: One array of pictures, or several, one after the other.
FramesOrChunks = Union[Frames, Iterable[Frames]]
#: The same, also from an asynchronous iterable.
FramesOrAsyncChunks = Union[Frames, Iterable[Frames], AsyncIterable[Frames]]


def is_array(frames: Any) -> bool:
    return isinstance(frames, (bytes, bytearray, memoryview, array.array)) or any(
        hasattr(frames, name) for name in ("__dlpack__", "__cuda_array_interface__", "__array_interface__")
    )


def each_array(frames: Any) -> Iterator[Any]:
    """The arrays of `frames`: itself, or what it iterates over."""
    if is_array(frames) or isinstance(frames, str) or not hasattr(frames, "__iter__"):
        yield frames
    else:
        yield from frames


def plain(frames: Any) -> Any:
    """An array that can be imported: images of Pillow, and arrays with `__array_interface__` alone, become others."""
    if hasattr(frames, "__dlpack__") or not hasattr(frames, "__array_interface__"):
        return frames
    if hasattr(frames, "convert") and hasattr(frames, "tobytes") and hasattr(frames, "size"):  # an image of Pillow
        rgb = frames.convert("RGB")
        return memoryview(rgb.tobytes()).cast("B", (rgb.size[1], rgb.size[0], 3))
    import numpy as np

    return np.asarray(frames)
