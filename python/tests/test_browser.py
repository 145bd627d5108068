"""Chromium plays and seeks what is written."""

import base64
import json
import re
import shutil
import subprocess

import pytest

import cu264
from conftest import moving_pictures

PAGE = """<body><video id=file muted></video><video id=stream muted></video><pre id=result></pre><script>
const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
const found = {};
const say = (name, value) => { found[name] = value; result.textContent = JSON.stringify(found); };
file.onerror = () => say("file error", file.error.message);
stream.onerror = () => say("stream error", stream.error.message);
file.onloadeddata = () => {
  say("file", [file.videoWidth, file.videoHeight, file.duration]);
  file.onseeked = () => {
    const canvas = document.createElement("canvas");
    canvas.width = file.videoWidth, canvas.height = file.videoHeight;
    const context = canvas.getContext("2d");
    context.drawImage(file, 0, 0);
    say("sample", Array.from(context.getImageData(4, 40, 1, 1).data));
  };
  file.currentTime = SEEK;
};
file.src = URL.createObjectURL(new Blob([bytes("FILE")], {type: "video/mp4"}));
const source = new MediaSource(), pieces = PIECES;
source.onsourceopen = () => {
  const buffer = source.addSourceBuffer('TYPE');
  const next = () => {
    if (pieces.length) return buffer.appendBuffer(bytes(pieces.shift()));
    source.endOfStream();
    const tell = () => say("stream", [stream.videoWidth, stream.videoHeight, stream.duration, stream.buffered.end(0)]);
    if (stream.readyState >= HTMLMediaElement.HAVE_METADATA) tell(); else stream.onloadedmetadata = tell;
  };
  buffer.onupdateend = next;
  next();
};
stream.src = URL.createObjectURL(source);
</script></body>"""


@pytest.mark.parametrize("profile", ["baseline", "high"])
def test_chromium(tmp_path, profile):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no Chromium")
    frames = moving_pictures(50, 144, 256)
    stream = cu264.StreamEncoder(25, profile=profile)
    pieces = [stream.encode(frames[i:i + 10]) for i in range(0, 50, 10)] + [stream.close()]
    text = [base64.b64encode(piece).decode() for piece in pieces if piece]
    page = PAGE.replace("FILE", base64.b64encode(cu264.encode(frames, 25, qp=10, profile=profile)).decode()).replace(
        "PIECES", json.dumps(text)).replace("TYPE", stream.mime_type).replace("SEEK", str((37 + 0.5) / 25))
    (tmp_path / "page.html").write_text(page)
    # The browser's clock, which ends the run, does not wait for its decoder: a loaded machine may need more of it.
    for budget in (20_000, 60_000, 180_000):
        result = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}",
             f"--virtual-time-budget={budget}", "--dump-dom", f"file://{tmp_path / 'page.html'}"],
            capture_output=True, text=True, timeout=120)
        shown = re.search(r'<pre id="result">(.*?)</pre>', result.stdout, re.S)
        if shown is None:
            pytest.skip(f"Chromium does not run here: {result.stderr[-300:]}")
        found = json.loads(shown.group(1) or "{}")
        if {"file", "stream", "sample"} <= found.keys():
            break
    assert found["file"] == [256, 144, 2]
    assert found["stream"] == [256, 144, 2, 2]
    expected = frames[37, 40, 4]
    assert all(abs(int(a) - int(b)) <= 16 for a, b in zip(found["sample"], expected)), (found, expected)
