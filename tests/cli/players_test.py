"""Players on outputs that stopped them once: mpv, GStreamer and Chromium. Each is skipped where it is not installed."""
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import time
import unittest

from media_kinds import AVC, SINE, TESTSRC, Kind, make
from support import TIMEOUT, CommandTest, ffmpeg, main

RATE = 25
BEGUN_LATE = Kind("late", "late.ts", [*AVC, "-c:a", "aac", "-shortest", "-output_ts_offset", "36000"], TESTSRC + SINE)
FLAC = Kind("FLAC", "flac.mkv", [*AVC, "-c:a", "flac", "-shortest"], TESTSRC + SINE)
WORDS = Kind("SubRip", "srt.mkv", [*AVC, "-c:s", "srt"], TESTSRC + ["-i", "SRT"])
OUTPUTS = [(BEGUN_LATE, "mp4"), (BEGUN_LATE, "mkv"), (BEGUN_LATE, "ts"), (FLAC, "mp4"), (WORDS, "mp4")]


class Outputs(CommandTest):
    """Each output has pictures and sounds for one second."""

    def each(self, check):
        for kind, extension in OUTPUTS:
            with self.subTest(kind=kind.name, output=extension):
                out = self.path(f"out-{kind.name}.{extension}")
                self.encode(make(kind, self.folder), "-o", out, "--preset", "fast")
                check(out)


@unittest.skipUnless(shutil.which("mpv"), "there is no mpv")
class Mpv(Outputs):
    def play(self, path):
        return subprocess.run(["mpv", "--no-config", "--vo=null", "--ao=null", "--untimed",
                               "--term-playing-msg=duration ${=duration}.", path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=TIMEOUT)

    def check(self, out):
        done = self.play(out)
        self.assertEqual(done.returncode, 0, done.stdout)
        duration = float(re.search(r"duration ([\d.]+)\.\s", done.stdout).group(1))
        self.assertAlmostEqual(duration, 1, delta=0.05, msg=done.stdout)  # audio may end a frame later
        self.assertNotIn("rror", done.stdout)

    def test_outputs(self):
        self.each(self.check)

    def test_it_tells_what_it_cannot_play(self):
        with open(self.path("noise.mp4"), "wb") as file:
            file.write(bytes(1000))
        self.assertNotEqual(self.play(self.path("noise.mp4")).returncode, 0)


@unittest.skipUnless(shutil.which("gst-launch-1.0"), "there is no GStreamer")
class GStreamer(Outputs):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for element in ("avdec_h264", "qtdemux", "matroskademux", "tsdemux"):
            if subprocess.run(["gst-inspect-1.0", element], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                raise unittest.SkipTest(f"this GStreamer has no {element}")

    def play(self, path):
        """Returns the exit status, all that was said, and the times of the decoded pictures."""
        done = subprocess.run(["gst-launch-1.0", "-v", "filesrc", f"location={path}", "!", "decodebin", "!", "video/x-raw", "!",
                               "identity", "name=seen", "silent=false", "!", "fakesink"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT)
        times = re.findall(r"GstIdentity:seen: last-message = chain .*? pts: (\d+):(\d+):([\d.]+)", done.stdout)
        return done.returncode, done.stdout, [3600 * int(h) + 60 * int(m) + float(s) for h, m, s in times]

    def check(self, out):
        status, said, times = self.play(out)
        self.assertEqual(status, 0, said)
        self.assertEqual(len(times), RATE)
        for number, at in enumerate(times):
            self.assertAlmostEqual(at - times[0], number / RATE, delta=0.001)
        if not out.endswith(".ts"):  # a transport stream has a clock of its own
            self.assertLess(times[0], 0.05)

    def test_outputs(self):
        self.each(self.check)

    def test_it_tells_what_it_cannot_play(self):
        """The exit status would not be worth a look otherwise."""
        with open(self.path("noise.mp4"), "wb") as file:
            file.write(bytes(1000))
        self.assertNotEqual(self.play(self.path("noise.mp4"))[0], 0)


WIDTH, HEIGHT, PICTURES, BARS = 256, 144, 150, 8
PAGE = """<video id=video muted preload=metadata></video><script>
const at = TIMES, found = {seeks: []}, video = document.getElementById("video");
const tell = () => fetch("/result", {method: "POST", body: JSON.stringify(found)});
const shown = () => {
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth, canvas.height = video.videoHeight;
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0);
  let number = 0;
  for (let bar = 0; bar < BARS; ++bar)
    number = 2 * number + (context.getImageData((bar + 0.5) * canvas.width / BARS, 16, 1, 1).data[1] > 127);
  return number;
};
video.onerror = () => { found.error = video.error.message; tell(); };
video.onloadedmetadata = () => {
  found.duration = video.duration, found.seekable = [video.seekable.start(0), video.seekable.end(0)];
  video.currentTime = at[0];
};
video.onseeked = () => {
  found.seeks.push([video.currentTime, shown()]);
  if (found.seeks.length == at.length) return tell();
  video.currentTime = at[found.seeks.length];
};
video.src = "/video.mp4";
</script>"""


class Server(http.server.ThreadingHTTPServer):
    """Serves a page and, slowly and in byte ranges, a video; keeps what the page posts."""

    def __init__(self, page, path):
        super().__init__(("127.0.0.1", 0), Handler)
        self.page, self.path = page.encode(), path
        self.size = os.path.getsize(path)
        self.first_bytes, self.result, self.told = [], None, threading.Event()

    def handle_error(self, request, client_address):
        pass  # a browser closes a connection when it seeks


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def head(self, status, kind, size, **more):
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": size, "Cache-Control": "no-store", **more}.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def do_GET(self):
        if self.path == "/":
            self.head(200, "text/html", len(self.server.page))
            self.wfile.write(self.server.page)
        elif self.path == "/video.mp4":
            self.send_video()
        else:
            self.head(404, "text/plain", 0)

    def send_video(self):
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "bytes=0-"))
        first, last = int(asked.group(1)), int(asked.group(2) or self.server.size - 1)
        self.server.first_bytes.append(first)
        self.head(206, "video/mp4", last + 1 - first, Accept_Ranges="bytes",
                  Content_Range=f"bytes {first}-{last}/{self.server.size}")
        with open(self.server.path, "rb") as file:
            file.seek(first)
            while first <= last:
                piece = file.read(min(1 << 16, last + 1 - first))
                self.wfile.write(piece)
                first += len(piece)
                time.sleep(0.02)  # slower than a seek, so that the browser asks for another range

    def do_POST(self):
        self.server.result = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.head(204, "text/plain", 0)
        self.server.told.set()


def browser():
    return shutil.which("chromium") or shutil.which("google-chrome")


@unittest.skipUnless(browser(), "there is no Chromium")
class Chromium(CommandTest):
    """The seek bar: what it says of the duration and the present time, and the picture that is shown there."""

    def numbered(self):
        """Pictures with their number in bars above noise, which makes the file large; the stream begins at ten hours."""
        raw, late = self.path("numbered.yuv"), self.path("numbered.ts")
        with open(raw, "wb") as file:
            for number in range(PICTURES):
                bars = b"".join((b"\xeb" if number >> (BARS - 1 - bar) & 1 else b"\x10") * (WIDTH // BARS) for bar in range(BARS))
                file.write(bars * 32 + os.urandom(WIDTH * (HEIGHT - 32)) + b"\x80" * (WIDTH * HEIGHT // 2))
        ffmpeg("-f", "rawvideo", "-s", f"{WIDTH}x{HEIGHT}", "-r", RATE, "-i", raw, "-c:v", "mpeg2video", "-q:v", 2, "-g", 1,
               "-output_ts_offset", 36000, late)
        return late

    def watch(self, path, times):
        """Returns what Chromium finds at these times, and the first bytes of the ranges that it asked for."""
        page = PAGE.replace("TIMES", json.dumps(times)).replace("BARS", str(BARS))
        with Server(page, path) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            with open(self.path("browser.log"), "wb") as log:
                window = subprocess.Popen([browser(), "--headless", "--no-sandbox", "--disable-gpu", "--mute-audio",
                                           "--remote-debugging-port=0", f"--user-data-dir={self.path('profile')}",
                                           f"http://127.0.0.1:{server.server_address[1]}/"], stdin=subprocess.DEVNULL,
                                          stdout=log, stderr=log)
                told = server.told.wait(TIMEOUT)
                window.terminate()
                window.wait(TIMEOUT)
            server.shutdown()
            if not told and not server.first_bytes:
                with open(self.path("browser.log"), errors="replace") as log:
                    self.skipTest(f"Chromium does not run here: {log.read()[-300:]}")
            self.assertTrue(told, "Chromium does not come to an end")
            return server.result, server.first_bytes

    def test_seek_bar(self):
        out = self.path("numbered.mp4")
        self.encode(self.numbered(), "-o", out, "--preset", "fast", "--qp", 12)
        wanted = [140, 3, 90, 149, 0]
        times = [(number + 0.5) / RATE for number in wanted]
        found, first_bytes = self.watch(out, times)
        self.assertNotIn("error", found)
        self.assertAlmostEqual(found["duration"], PICTURES / RATE, delta=1e-6)
        self.assertEqual(found["seekable"], [0, found["duration"]])
        for (at, shown), time_of, number in zip(found["seeks"], times, wanted):
            self.assertAlmostEqual(at, time_of, delta=1e-6)
            self.assertEqual(shown, number)
        size = os.path.getsize(out)
        self.assertTrue(any(first > size // 2 for first in first_bytes),
                        f"the seek to the end read all of the {size} bytes: {first_bytes}")


if __name__ == "__main__":
    main()
