"""Every way to pass the same pictures gives the same bytes."""

import ctypes
import gc
import os
import subprocess
import sys
import weakref

import numpy as np
import pytest

import cu264
from cu264 import session


class DlpackOnly:
    """A tensor with nothing but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def as_channels_first(frames):
    return np.ascontiguousarray(frames.transpose(0, 3, 1, 2))


def with_alpha(frames):
    return np.concatenate([frames, np.full_like(frames[..., :1], 7)], axis=-1)


def padded(frames):
    memory = np.zeros((len(frames), frames.shape[1] + 3, frames.shape[2] + 5, 3), frames.dtype)
    view = memory[:, 1:-2, 2:-3]
    view[...] = frames
    return view


SAME_PICTURES = {
    "channels first": (as_channels_first, {}),
    "a view with channels last of memory with channels first": (lambda f: as_channels_first(f).transpose(0, 2, 3, 1), {}),
    "a view with channels first of memory with channels last": (lambda f: f.transpose(0, 3, 1, 2), {}),
    "RGBA": (with_alpha, {}),
    "RGBA with channels first": (lambda f: as_channels_first(with_alpha(f)), {}),
    "padding around the pictures": (padded, {}),
    "BGR": (lambda f: np.ascontiguousarray(f[..., ::-1]), {"pixel_format": "bgr"}),
    "BGRA": (lambda f: with_alpha(np.ascontiguousarray(f[..., ::-1])), {"pixel_format": "bgra"}),
    "a reversed view of BGR": (lambda f: np.ascontiguousarray(f[..., ::-1])[..., ::-1], {}),
    "rows from the bottom up": (lambda f: np.ascontiguousarray(f[:, ::-1])[:, ::-1], {}),
    "every second picture of more": (lambda f: np.repeat(f, 2, axis=0)[::2], {}),
    "float32": (lambda f: f.astype(np.float32) / 255, {}),
    "float32 with channels first": (lambda f: as_channels_first(f.astype(np.float32) / 255), {"value_range": (0, 1)}),
    "float16": (lambda f: (f / 255).astype(np.float16), {}),
    "float32 in [-1, 1]": (lambda f: f.astype(np.float32) / 127.5 - 1, {"value_range": (-1, 1)}),
    "float16 in [-1, 1], channels first": (
        lambda f: as_channels_first((f / 127.5 - 1).astype(np.float16)), {"value_range": (-1, 1)}),
    "DLPack alone": (DlpackOnly, {}),
    "time after height": (lambda f: f.transpose(1, 0, 2, 3), {"layout": "HTWC"}),
    "read-only": (lambda f: np.frombuffer(f.tobytes(), np.uint8).reshape(f.shape), {}),
}


@pytest.mark.parametrize("name", SAME_PICTURES)
def test_same_bytes(clip, name):
    change, settings = SAME_PICTURES[name]
    assert cu264.encode(change(clip), 25, **settings) == cu264.encode(clip, 25)


def test_single_pictures_are_a_clip_of_one(clip):
    expected = cu264.encode(clip[:1], 25)
    assert cu264.encode(clip[0], 25) == expected
    assert cu264.encode(np.ascontiguousarray(clip[0].transpose(2, 0, 1)), 25, layout="CHW") == expected


def test_gray_is_rgb_of_equal_channels(clip):
    gray = np.ascontiguousarray(clip[..., 0])
    expected = cu264.encode(np.repeat(gray[..., None], 3, axis=-1), 25)
    assert cu264.encode(gray, 25) == expected
    assert cu264.encode(gray[..., None], 25) == expected
    assert cu264.encode(gray[:, None], 25) == expected
    assert cu264.encode(gray.astype(np.float32) / 255, 25) == expected
    assert cu264.encode(gray[0], 25) == cu264.encode(gray[:1], 25)


def i420(count, height, width):
    return np.random.default_rng(5).integers(16, 235, (count, height * 3 // 2, width), dtype=np.uint8)


def test_nv12_is_i420_in_another_order():
    height, width = 34, 50
    planar = i420(3, height, width)
    chroma = planar[:, height:].reshape(3, 2, -1)
    nv12 = np.concatenate([planar[:, :height], chroma.transpose(0, 2, 1).reshape(3, height // 2, width)], axis=1)
    assert cu264.encode(nv12, 25, pixel_format="nv12", container="h264") == cu264.encode(
        planar, 25, pixel_format="i420", container="h264")


def test_same_bytes_as_the_command(tmp_path):
    command = os.environ.get("CU264")
    if not command:
        pytest.skip("CU264 does not name the command")
    frames = i420(3, 34, 50)
    (tmp_path / "in.yuv").write_bytes(frames.tobytes())
    subprocess.run([command, "encode", tmp_path / "in.yuv", "--size", "50x34", "--fps", "30", "--qp", "20", "--preset",
                    "best", "-o", tmp_path / "out.264"], check=True, capture_output=True)
    expected = (tmp_path / "out.264").read_bytes()
    assert cu264.encode(frames, 30, pixel_format="i420", qp=20, preset="best", container="h264") == expected


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int), ("device_id", ctypes.c_int),
                ("ndim", ctypes.c_int), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Bfloat16:
    """A tensor of bfloat16 for DLPack, which NumPy does not have."""

    def __init__(self, floats):
        self.bits = (np.ascontiguousarray(floats, np.float32).view(np.uint32) >> 16).astype(np.uint16)
        self.shape = (ctypes.c_int64 * 4)(*self.bits.shape)
        self.tensor = _Tensor(self.bits.ctypes.data, 1, 0, 4, 4, 16, 1, self.shape, None, 0, None, None)

    def __dlpack__(self, **_):
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return capsule(ctypes.addressof(self.tensor), b"dltensor", None)

    def __dlpack_device__(self):
        return (1, 0)


def test_bfloat16(clip):
    floats = clip.astype(np.float32) / 255
    rounded = (floats.view(np.uint32) & 0xFFFF0000).view(np.float32)
    assert cu264.encode(Bfloat16(floats), 25) == cu264.encode(rounded, 25)


def test_frames_are_kept_no_longer_than_needed(clip):
    class Kept(np.ndarray):
        pass

    frames = clip.copy().view(Kept)
    gone = weakref.ref(frames)
    before = sys.getrefcount(frames)
    cu264.encode(frames, 25)
    assert sys.getrefcount(frames) == before
    encoder = cu264.Encoder(25)
    encoder.send(frames)
    encoder.flush()
    del frames
    gc.collect()
    assert gone() is None


def test_the_gil_is_released():
    import threading
    import time

    frames = np.random.default_rng(1).integers(0, 255, (12, 240, 320, 3), dtype=np.uint8)
    running, longest = threading.Event(), [0.0]

    def watch():
        last = time.perf_counter()
        while not running.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            longest[0], last = max(longest[0], now - last), now

    start = time.perf_counter()
    watcher = threading.Thread(target=watch)
    watcher.start()
    cu264.encode(frames, 25, preset="best", threads=1)
    taken = time.perf_counter() - start
    running.set()
    watcher.join()
    assert longest[0] < taken / 2


def test_equal_results_on_threads(clip):
    from concurrent.futures import ThreadPoolExecutor

    expected = cu264.encode(clip, 25)
    with ThreadPoolExecutor(4) as pool:
        assert all(data == expected for data in pool.map(lambda _: cu264.encode(clip, 25), range(8)))


def test_batches_of_clips_and_of_chunks():
    class Device:
        def automatic_batch(self):
            return 161

    def batch(pictures, preset, whole):
        return session._batch_for(Device(), pictures, preset, whole)

    assert [batch(n, "fast", False) for n in (60, 121, 161, 162)] == [60, 81, 108, 81]
    assert [batch(n, "best", False) for n in (60, 121, 162, 400)] == [60, 121, 81, 134]
    for chunk in (1, 24, 121, 162, 400):  # a chunk comes back whole: no batch is left that is not full
        assert chunk % batch(chunk, "fast", True) == 0
