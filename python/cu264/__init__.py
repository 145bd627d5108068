"""H.264 from arrays in GPU or host memory.

    import cu264
    cu264.write_video("clip.mp4", frames, fps=24, qp=24)

`frames` is any array of pictures: a tensor of PyTorch, CuPy or JAX on a GPU, or a NumPy array. Frames on a GPU are
encoded there, and only the coded stream leaves it. Without a GPU, the processor encodes them, to the same bytes.
"""

from typing import TYPE_CHECKING, Any

from . import compat, edges, protect, vle
from ._core import Packet
from ._core import version as _version
from .audio import Audio
from .calls import encode, write_video
from .picture_encoder import Encoder
from .probing import Info, Probe, info, probe
from .stream_encoder import StreamEncoder
from .stream_group import GroupResult, GroupStream, StreamGroup
from .video_writer import VideoWriter

__version__: str = _version()


if not TYPE_CHECKING:  # so that checkers find names that do not exist

    def __getattr__(name: str) -> Any:
        if name == "ray":  # which needs Ray, and takes long to import
            import importlib

            return importlib.import_module("cu264.ray")
        raise AttributeError(f"module 'cu264' has no attribute {name!r}")


__all__ = [
    "Audio",
    "Encoder",
    "GroupResult",
    "GroupStream",
    "Info",
    "Packet",
    "Probe",
    "StreamEncoder",
    "StreamGroup",
    "VideoWriter",
    "compat",
    "edges",
    "encode",
    "info",
    "probe",
    "protect",
    "vle",
    "write_video",
]
