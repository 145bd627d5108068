"""The sample programs do what they say."""

import pathlib
import shutil
import subprocess
import sys
import threading
import urllib.request

import pytest

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"
pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the samples are not here")


def run(name, *arguments):
    result = subprocess.run([sys.executable, SAMPLES / "python" / name, *map(str, arguments)], capture_output=True,
                            text=True, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


class Server:
    """A sample that serves and says where, in its first line."""

    def __init__(self, path):
        self.process = subprocess.Popen([sys.executable, SAMPLES / path, "0"], stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        self.address = self.process.stdout.readline().strip()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def fetch(self, name):
        with urllib.request.urlopen(self.address + name, timeout=60) as response:
            return response.headers["Content-Type"], response.read()


def test_serve_fragments(decode):
    with Server("serve_fragments.py") as server:
        assert b"<video" in server.fetch("")[1]
        kind, video = server.fetch("video.mp4")
    assert kind == "video/mp4"
    assert video.count(b"moof") >= 10
    assert len(decode(video)) == 120 * 640 * 360 * 3 // 2


def test_model_output(tmp_path, decode):
    assert "(48, 3, 270, 480)" in run("model_output.py", tmp_path / "clip.mp4")
    assert len(decode(tmp_path / "clip.mp4")) == 48 * 480 * 270 * 3 // 2


def test_clip_dataset(tmp_path):
    pytest.importorskip("av", reason="PyAV is not installed")
    assert ", 0 wrong" in run("clip_dataset.py", tmp_path, 3, 60)
    assert len(list(tmp_path.glob("*.mp4"))) == 3


def test_many_cameras(tmp_path, decode):
    assert "64 cameras" in run("many_cameras.py", tmp_path, 64, 5)
    assert len(list(tmp_path.glob("*.264"))) == 64
    for i in (0, 63):
        assert len(decode(tmp_path / f"camera{i:02}.264")) == 5 * 160 * 120 * 3 // 2


def test_a_browser_plays_what_aiohttp_streams(tmp_path, decode):
    pytest.importorskip("aiohttp", reason="aiohttp is not installed")
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    with Server("python/serve_aiohttp.py") as server:
        kind, video = server.fetch("video.mp4")
        assert kind == "video/mp4" and video.count(b"moof") == 4
        assert len(decode(video)) == 48 * 320 * 180 * 3 // 2
        if browser is None:
            pytest.skip("there is no Chromium")
        errors = open(tmp_path / "browser.txt", "w+")
        viewer = subprocess.Popen(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
             f"--user-data-dir={tmp_path / 'profile'}", "--remote-debugging-port=0", server.address],
            stdout=errors, stderr=errors)
        # Without a report in time, the server is ended, and its output with it.
        alarm = threading.Timer(60, server.process.kill)
        alarm.start()
        try:
            report = server.process.stdout.readline()
        finally:
            alarm.cancel()
            viewer.kill()
            viewer.wait()
        if not report and "DevTools listening" not in (tmp_path / "browser.txt").read_text():
            pytest.skip("Chromium does not run here")
    size, seconds, frames = report.removeprefix("played: ").split(", ")
    assert size == "320x180" and 1.9 < float(seconds.split()[0]) < 2.1 and int(frames.split()[0]) >= 40, report
