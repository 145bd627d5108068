"""A folder of clips, on a disk or in an object store."""

from __future__ import annotations

import os
import posixpath
import uuid
from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Set, Tuple

from pyarrow import fs

#: What is taken from a folder, by its suffix.
VIDEO_SUFFIXES = tuple(
    ".264 .265 .avi .flv .h264 .h265 .hevc .m2ts .m4v .mkv .mov .mp4 .mpeg .mpg .mts .mxf .ts .webm .wmv .y4m".split()
)

#: The folder of ledger and temporary files in an output folder. Readers of data sets leave out names with "_".
PRIVATE = "_cu264"


@dataclass(frozen=True)
class ClipFile:
    """A file of a store. `version` changes when the file is written again."""

    name: str
    size: int
    version: str


def open_filesystem(uri: str, filesystem: Any = None) -> Tuple[fs.FileSystem, str]:
    """A file system and a path in it.

    pyarrow opens what it knows (paths, file, s3, gs, hdfs), and fsspec, if it is installed, every other scheme.
    """
    if filesystem is not None:
        if not isinstance(filesystem, fs.FileSystem):
            filesystem = fs.PyFileSystem(fs.FSSpecHandler(filesystem))
        return filesystem, uri
    if "://" not in uri:
        return fs.LocalFileSystem(), os.path.abspath(uri)
    try:
        return fs.FileSystem.from_uri(uri)
    except (ValueError, NotImplementedError) as error:  # pyarrow.ArrowInvalid is a ValueError
        try:
            import fsspec
        except ImportError:
            raise ValueError(f"{uri}: pyarrow does not open it ({error}); install fsspec and its driver") from error
        opened, path = fsspec.core.url_to_fs(uri)
        return fs.PyFileSystem(fs.FSSpecHandler(opened)), path


class ClipStore:
    """A folder, by its URI.

    Parameters
    ----------
    uri : str
        A path or a URI such as s3://bucket/folder.
    filesystem : pyarrow.fs.FileSystem or fsspec.AbstractFileSystem, optional
        Opens `uri`, which then is a path in it.
    """

    def __init__(self, uri: str, filesystem: Any = None) -> None:
        self.uri = uri
        self._fs, self._root = open_filesystem(uri, filesystem)
        self._root = self._root.rstrip("/") or "/"
        self._folders: Set[str] = set()  # that this process has made

    def overlaps(self, other: "ClipStore") -> bool:
        """Returns whether one folder is the other, or lies in it."""
        if self._fs.type_name != other._fs.type_name:
            return False
        mine, others = self._real() + "/", other._real() + "/"
        return mine.startswith(others) or others.startswith(mine)

    def _real(self) -> str:
        local = isinstance(self._fs, fs.LocalFileSystem)
        return os.path.realpath(self._root) if local else self._root

    def files(self, suffixes: Optional[Sequence[str]] = None) -> List[ClipFile]:
        """All files in the folder and below it, by name; those with `suffixes` only. Names that begin with "_" or "."
        are left out. A store that is a single file has that file."""
        found = self._fs.get_file_info(self._root)
        if found.type == fs.FileType.File:
            self._root, name = posixpath.split(self._root)
            return [_clip_file(name, found)]
        selector = fs.FileSelector(self._root, recursive=True, allow_not_found=True)
        files = []
        for info in self._fs.get_file_info(selector):
            name = posixpath.relpath("/" + info.path.lstrip("/"), "/" + self._root.lstrip("/"))
            hidden = any(part.startswith(("_", ".")) for part in name.split("/"))
            if info.type == fs.FileType.File and not hidden:
                if suffixes is None or posixpath.splitext(name)[1].lower() in suffixes:
                    files.append(_clip_file(name, info))
        return sorted(files, key=lambda file: file.name)

    def exists(self) -> bool:
        return self._fs.get_file_info(self._root).type != fs.FileType.NotFound

    def find(self, name: str) -> Optional[ClipFile]:
        info = self._fs.get_file_info(self.path(name))
        return _clip_file(name, info) if info.type == fs.FileType.File else None

    def path(self, name: str) -> str:
        """Returns where a name lies, for messages and for other programs."""
        if name.startswith("/") or ".." in name.split("/"):
            raise ValueError(f"{name!r} must be a relative path that stays in {self.uri}")
        return posixpath.join(self._root, name)

    def open(self, name: str) -> Any:
        """A file object that can seek."""
        return self._fs.open_input_file(self.path(name))

    def read(self, name: str) -> Optional[bytes]:
        """Returns the content of a file; None if there is no such file."""
        try:
            with self._fs.open_input_stream(self.path(name)) as file:
                return file.read()
        except FileNotFoundError:
            return None

    def put(self, name: str, data: bytes, run: str) -> None:
        """Writes a file under a temporary name, in a folder of this run, and renames it."""
        temporary = self.path(f"{PRIVATE}/temporary/{run}/{uuid.uuid4().hex}")
        final = self.path(name)
        for folder in {posixpath.dirname(temporary), posixpath.dirname(final)} - self._folders:
            self._fs.create_dir(folder, recursive=True)
            self._folders.add(folder)
        with self._fs.open_output_stream(temporary) as file:
            file.write(data)
        self._fs.move(temporary, final)

    def clear_temporary(self, run: str) -> int:
        """Removes what workers of a run left when they were killed; returns the number of files."""
        folder = self.path(f"{PRIVATE}/temporary/{run}")
        left = self._fs.get_file_info(fs.FileSelector(folder, recursive=True, allow_not_found=True))
        if self._fs.get_file_info(folder).type == fs.FileType.Directory:
            self._fs.delete_dir(folder)
        self._folders.discard(folder)
        return sum(info.type == fs.FileType.File for info in left)


def _clip_file(name: str, info: fs.FileInfo) -> ClipFile:
    return ClipFile(name, info.size, str(info.mtime_ns if info.mtime_ns is not None else ""))
