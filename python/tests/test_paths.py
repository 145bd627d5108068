"""One table for all containers: what becomes of every kind of path."""

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import threading

import pytest

import cu264

SUFFIXES = {"mp4": ".mp4", "fmp4": ".mp4", "h264": ".h264", "mkv": ".mkv", "ts": ".ts"}
CONTAINERS = list(SUFFIXES)
STREAMED = [name for name in CONTAINERS if name != "mp4"]  # whose bytes come in order


@pytest.fixture(autouse=True)
def needs_pyav(request):
    if getattr(request.node, "callspec", None) and request.node.callspec.params.get("container") in ("mkv", "ts"):
        pytest.importorskip("av", reason="PyAV is not installed")


def write(path, clip, container, **settings):
    cu264.write_video(path, clip, 25, container=container, preset="fast", **settings)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("container", CONTAINERS)
def test_an_ordinary_file(clip, tmp_path, decode, container):
    path = tmp_path / f"clip{SUFFIXES[container]}"
    write(path, clip, container)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    assert len(decode(path)) == 9 * 66 * 98 * 3 // 2
    assert names(tmp_path) == [path.name]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_that_is_replaced_keeps_its_mode(clip, tmp_path, container, mode):
    path = tmp_path / "clip.x"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(path, clip, container)
    assert stat.S_IMODE(path.stat().st_mode) == mode and path.stat().st_size > 100
    assert names(tmp_path) == ["clip.x"]


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_write_protected_file_is_left_alone(clip, tmp_path, container):
    path = tmp_path / "clip.x"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError) as caught:
        write(path, clip, container)
    assert caught.value.errno == errno.EACCES and caught.value.filename == str(path)
    assert path.read_bytes() == b"old" and names(tmp_path) == ["clip.x"]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_written_through(clip, tmp_path, container, there):
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target"
    if there:
        target.write_bytes(b"old")
        target.chmod(0o600)
    link = tmp_path / "clip.x"
    link.symlink_to("folder/target")
    write(link, clip, container)
    assert link.is_symlink() and target.stat().st_size > 100
    assert not there or stat.S_IMODE(target.stat().st_mode) == 0o600
    assert names(tmp_path) == ["clip.x", "folder"] and names(target.parent) == ["target"]


@pytest.mark.parametrize("container", CONTAINERS)
def test_links_that_lead_nowhere(clip, tmp_path, container):
    link = tmp_path / "clip.x"
    link.symlink_to("clip.x")
    with pytest.raises(OSError):
        write(link, clip, container)
    assert names(tmp_path) == ["clip.x"] and link.is_symlink()


@pytest.mark.parametrize("container", STREAMED)
def test_a_device_stays_a_device(clip, container):
    before = os.stat("/dev/null")
    write("/dev/null", clip, container)
    after = os.stat("/dev/null")
    assert stat.S_ISCHR(after.st_mode) and (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)


@pytest.mark.parametrize("container", STREAMED)
def test_a_pipe_gets_the_file(clip, tmp_path, decode, container):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    write(path, clip, container)
    reader.join()
    assert stat.S_ISFIFO(path.stat().st_mode) and names(tmp_path) == ["pipe"]
    assert len(decode(got[0], SUFFIXES[container])) == 9 * 66 * 98 * 3 // 2


def test_mp4_says_what_goes_into_a_device_or_pipe(clip, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = threading.Thread(target=pipe.read_bytes)
    reader.start()
    for path in ("/dev/null", pipe):
        with pytest.raises(OSError, match="fmp4") as caught:
            write(path, clip, "mp4")
        assert caught.value.errno == errno.ESPIPE
    reader.join()
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode) and stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("container", STREAMED)
def test_a_reader_that_goes_away(clip, tmp_path, container):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: os.close(os.open(path, os.O_RDONLY)))
    reader.start()
    with pytest.raises(BrokenPipeError):
        with cu264.VideoWriter(path, 25, container=container, qp=1) as video:
            reader.join()
            for _ in range(20):
                video.write(clip)


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_full_device(clip, container):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with pytest.raises(OSError) as caught:
        write("/dev/full", clip, container, qp=1)
    assert caught.value.errno == (errno.ENOSPC if container != "mp4" else errno.ESPIPE)
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_full_disk_leaves_what_was_there(clip, tmp_path, container):
    path = tmp_path / "clip.x"
    path.write_bytes(b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, limits[1]))
    try:
        with pytest.raises(OSError) as caught:
            write(path, clip, container, qp=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.errno == errno.EFBIG
    assert path.read_bytes() == b"old" and names(tmp_path) == ["clip.x"]


@pytest.mark.parametrize("container", CONTAINERS)
def test_folders(clip, tmp_path, container):
    with pytest.raises(IsADirectoryError):
        write(tmp_path, clip, container)
    with pytest.raises(FileNotFoundError) as caught:
        write(tmp_path / "none" / "clip.x", clip, container)
    assert caught.value.errno == errno.ENOENT
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        write(tmp_path / "file" / "clip.x", clip, container)
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("when", ["before the first frame", "after it"])
def test_a_relative_path_survives_chdir(clip, tmp_path, monkeypatch, container, when):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with cu264.VideoWriter("clip.x", 25, container=container) as video:
        if when == "after it":
            video.write(clip)
        os.chdir(tmp_path / "there")
        video.write(clip)
    dropped = cu264.VideoWriter("../here/other.x", 25, container=container)
    dropped.write(clip)
    os.chdir(tmp_path)
    del dropped
    assert names(tmp_path / "here") == ["clip.x"] and names(tmp_path / "there") == []


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("how", ["dropped", "discarded", "closed", "left open", "ended in a with block"])
def test_a_forked_child_leaves_its_parents_file_alone(tmp_path, container, how):
    """In a process of its own, because pytest must not be forked."""
    program = """
import os, signal, sys, numpy as np, cu264
how, path, container = sys.argv[1:]
frames = np.random.default_rng(1).integers(0, 256, (12, 64, 64, 3), dtype=np.uint8)
video = cu264.VideoWriter(path, 25, container=container)
video.write(frames)
child = os.fork()
if child == 0:
    signal.alarm(20)
    if how == "dropped":
        del video
    elif how == "discarded":
        video.discard()
    elif how == "closed":
        try:
            video.close()
            os._exit(3)
        except RuntimeError as error:
            assert "forked" in str(error)
    elif how == "ended in a with block":
        with video:
            sys.exit(0)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
video.write(frames)
video.close()
"""
    path = tmp_path / "clip.x"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program, how, path, container], check=True, timeout=60, env=environment)
    assert names(tmp_path) == ["clip.x"] and path.stat().st_size > 1000


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_program_that_ends_with_an_open_writer_leaves_no_file(tmp_path, container):
    program = """
import sys, threading, numpy as np, cu264
path, container = sys.argv[1:]
frames = np.zeros((4, 64, 64, 3), np.uint8)
video = cu264.VideoWriter(path, 25, container=container)
video.write(frames)
threading.current_thread().kept = video  # which nobody deletes
video.itself = video
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", program, tmp_path / "clip.x", container], check=True, timeout=60,
                   env=environment)
    assert names(tmp_path) == []
