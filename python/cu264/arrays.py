"""What counts as an array of frames, and what as an iterable of them."""

from __future__ import annotations

import array
from typing import TYPE_CHECKING, Any, AsyncIterable, Dict, Iterable, Iterator, Protocol, Sequence, Union

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


def plain(frames: Any, gray: bool = False) -> Any:
    """An array that can be imported: images of Pillow, and arrays with `__array_interface__` alone, become others.

    `gray`: images become gray ones, and not RGB.
    """
    if hasattr(frames, "__dlpack__") or not hasattr(frames, "__array_interface__"):
        return frames
    if hasattr(frames, "convert") and hasattr(frames, "tobytes") and hasattr(frames, "size"):  # an image of Pillow
        image = frames.convert("L" if gray else "RGB")
        shape = (image.size[1], image.size[0])
        return memoryview(image.tobytes()).cast("B", shape if gray else (*shape, 3))
    import numpy as np

    return np.asarray(frames)


def stacked(pictures: Sequence[Any], gray: bool = False) -> Any:
    """One array of a list of pictures: tensors of PyTorch, arrays of CuPy or NumPy, or images of Pillow."""
    if not pictures:
        raise ValueError("there are no frames to encode")
    kind = type(pictures[0]).__module__.partition(".")[0]
    if kind == "torch":
        import torch  # type: ignore[import-not-found, unused-ignore]

        return torch.stack(list(pictures))
    if kind == "cupy":
        import cupy  # type: ignore[import-not-found, unused-ignore]

        return cupy.stack(list(pictures))
    import numpy

    return numpy.stack([numpy.asarray(plain(picture, gray)) for picture in pictures])
