"""The sample programs do what they say."""

import pathlib
import subprocess
import sys
import urllib.request

import pytest

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"


def test_serve_fragments(decode):
    if not SAMPLES.is_dir():
        pytest.skip("the samples are not here")
    server = subprocess.Popen([sys.executable, SAMPLES / "serve_fragments.py", "0"], stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        with urllib.request.urlopen(address, timeout=30) as page:
            assert b"<video" in page.read()
        with urllib.request.urlopen(address + "video.mp4", timeout=60) as response:
            assert response.headers["Content-Type"] == "video/mp4"
            video = response.read()
    finally:
        server.kill()
        server.wait()
    assert video.count(b"moof") >= 10
    assert len(decode(video)) == 120 * 640 * 360 * 3 // 2
