"""Pictures that the tests share."""

import importlib.util
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import cu264


def require_cuda():
    """Skips the module that calls it where cu264 cannot encode on a GPU."""
    try:
        probe = cu264.probe()
    except Exception as error:  # the CPU tests say what is wrong then
        pytest.skip(str(error), allow_module_level=True)
    if probe.backend != "cuda":
        pytest.skip(f"no CUDA device: {probe.cuda_problem}", allow_module_level=True)


def adapter_of(name):
    """The module samples/adapters/NAME.py, a file to copy. Skips the module that calls it where the samples are not."""
    path = pathlib.Path(__file__).resolve().parents[2] / f"samples/adapters/{name}.py"
    if not path.is_file():
        pytest.skip("the samples are not here", allow_module_level=True)
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def torch():
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return module


@pytest.fixture(scope="session")
def cupy():
    return pytest.importorskip("cupy")


def moving_pictures(count, height, width):
    """Gradients and a moving square, uint8 of shape (count, height, width, 3)."""
    t, y, x = np.ogrid[:count, :height, :width]
    frames = np.stack(np.broadcast_arrays(x * 2 + t, y * 3, (x + y) * 2 - t), axis=-1) % 256
    square = (abs(x - 10 - 2 * t) < 8) & (abs(y - 20) < 8)
    frames[square] = (250, 40, 90)
    return frames.astype(np.uint8)


@pytest.fixture(scope="session")
def clip():
    return moving_pictures(9, 66, 98)


@pytest.fixture(scope="session")
def decode(tmp_path_factory):
    """A function from a file's path or bytes to its decoded frames, as I420 bytes."""
    if shutil.which("ffmpeg") is None:
        pytest.skip("there is no ffmpeg to decode with")
    folder = tmp_path_factory.mktemp("decode")

    def decoded(file, suffix=".mp4"):
        if isinstance(file, bytes):
            path = folder / ("file" + suffix)
            path.write_bytes(file)
        else:
            path = file
        result = subprocess.run(
            ["ffmpeg", "-v", "error", "-i", path, "-fps_mode", "passthrough", "-f", "rawvideo", "-"],
            capture_output=True, check=True)
        assert not result.stderr, result.stderr
        return result.stdout

    return decoded


@pytest.fixture(scope="session")
def probe_file():
    """A function from a path and entries of ffprobe to a dict of strings."""
    if shutil.which("ffprobe") is None:
        pytest.skip("there is no ffprobe")

    def probed(path, entries, *options):
        result = subprocess.run(
            ["ffprobe", "-v", "error", *options, "-show_entries", entries, "-of", "default=nw=1", path],
            capture_output=True, check=True, text=True)
        assert not result.stderr, result.stderr
        return [line.split("=", 1) for line in result.stdout.splitlines()]

    return probed
