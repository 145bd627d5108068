"""Pipelines with cu264enc: bytes beside those of the command, files, RTP, two encoders at once, leaks.

The environment names the command (CU264), the tests of the element (ELEMENT_TEST), the plugin's folder (GST_PLUGIN_PATH)
and a registry (GST_REGISTRY).
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

CU264, ELEMENT_TEST = os.environ["CU264"], os.environ["ELEMENT_TEST"]
WIDTH, HEIGHT, FRAMES = 96, 64, 30
PICTURE = WIDTH * HEIGHT * 3 // 2
CAPS = f"video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate=25/1"
SOURCE = f"videotestsrc pattern=ball num-buffers={FRAMES} ! {CAPS}"
# What the source's caps say: the command is told, because raw video says nothing.
DESCRIPTION = ("--sar 1:1 --range limited --colorprim smpte170m --transfer smpte170m --colormatrix smpte170m "
               "--chromaloc 1").split()


LEAK = re.compile(r"object-alive, type-name=\(string\)\w.*")  # of the tracer "leaks"


def launch(pipeline, expect=0, leaks=False, timeout=120):
    environment = dict(os.environ, GST_DEBUG_NO_COLOR="1")
    if leaks:
        environment.update(GST_TRACERS="leaks", GST_DEBUG="GST_TRACER:7")
    done = subprocess.run(["gst-launch-1.0", "-q", *pipeline.split()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=timeout, env=environment)
    assert done.returncode == expect, f"{pipeline}: {done.returncode}: {done.stdout}"
    return done.stdout


def content(path):
    with open(path, "rb") as file:
        return file.read()


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def pictures_of(path):
    """The decoded pictures of a stream or file."""
    done = subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=True)
    assert not done.stderr, done.stderr
    return [done.stdout[i:i + PICTURE] for i in range(0, len(done.stdout), PICTURE)]


def keys_of(path):
    """Whether each packet of a file is flagged as a key picture."""
    done = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=flags", "-of", "csv=p=0", path],
                          stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    return ["K" in line for line in done.stdout.splitlines() if line]


class Pipelines(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cu264enc-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def test_is_listed(self):
        done = subprocess.run(["gst-inspect-1.0", "cu264enc"], stdout=subprocess.PIPE, text=True, timeout=60, check=True)
        self.assertIn("none (0)", done.stdout)
        self.assertIn("Codec/Encoder/Video", done.stdout)

    def test_bytes_are_those_of_the_command(self):
        raw, ours, theirs = self.path("raw.yuv"), self.path("ours.264"), self.path("theirs.264")
        launch(f"{SOURCE} ! filesink location={raw}")
        for properties, options in (
                ("", ""),
                ("qp-const=20 preset=fast num-slices=2", "--qp 20 --preset fast --slices 2"),
                ("qp-const=24 gop-size=8", "--qp 24 --gop 8"),
                ("rc-mode=const-quality const-quality=20 gop-size=8", "--crf 20 --gop 8"),
                ("gop-size=-1", "--gop 0"),
                ("preset=best const-quality=23.5", "--preset best --crf 23.5"),
                ("bitrate=300", "--bitrate 300"),
                ("bitrate=300 max-bitrate=400 vbv-buffer-size=250", "--bitrate 300 --maxrate 400 --bufsize 250"),
                ("rc-mode=cbr bitrate=400 zerolatency=true", "--bitrate 400 --cbr --lookahead 0"),
                ("rc-mode=vbr bitrate=300 rc-lookahead=5", "--bitrate 300 --lookahead 5"),
                ("option-string=aq=steps:deblock=off:cavlc", "--aq steps --no-deblock --cavlc"),
        ):
            with self.subTest(properties):
                launch(f"{SOURCE} ! cu264enc {properties} ! filesink location={ours}")
                subprocess.run([CU264, "encode", raw, theirs, "-y", "--size", f"{WIDTH}x{HEIGHT}", "--fps", "25",
                                *DESCRIPTION, *options.split()], check=True, stderr=subprocess.PIPE, timeout=120)
                self.assertEqual(content(ours), content(theirs))

    def test_files(self):
        stream = self.path("stream.264")
        launch(f"{SOURCE} ! cu264enc bitrate=300 ! filesink location={stream}")
        expected = pictures_of(stream)
        self.assertEqual(len(expected), FRAMES)
        for mux, name in (("mp4mux", "a.mp4"), ("h264parse ! mp4mux", "b.mp4"), ("matroskamux", "c.mkv"),
                          ("h264parse ! matroskamux", "d.mkv"), ("mpegtsmux", "e.ts")):
            with self.subTest(mux):
                launch(f"{SOURCE} ! cu264enc bitrate=300 ! {mux} ! filesink location={self.path(name)}")
                self.assertEqual(pictures_of(self.path(name)), expected)

    def test_files_with_gops(self):
        """Files say which pictures are key pictures, and players find them."""
        stream = self.path("stream.264")
        launch(f"{SOURCE} ! cu264enc gop-size=8 ! filesink location={stream}")
        expected = pictures_of(stream)
        for mux, name in (("mp4mux", "a.mp4"), ("matroskamux", "b.mkv"), ("mpegtsmux", "c.ts")):
            with self.subTest(mux):
                launch(f"{SOURCE} ! cu264enc gop-size=8 ! {mux} ! filesink location={self.path(name)}")
                self.assertEqual(pictures_of(self.path(name)), expected)
                self.assertEqual([n for n, key in enumerate(keys_of(self.path(name))) if key], [0, 8, 16, 24])

    def test_rtp(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        stream, received = self.path("stream.264"), self.path("received.yuv")
        source = f"videotestsrc pattern=ball is-live=true num-buffers=100 ! {CAPS} ! cu264enc zerolatency=true"
        launch(f"{source} ! filesink location={stream}")
        receiver = subprocess.Popen(
            ["gst-launch-1.0", "-q", *f"udpsrc port={port} address=127.0.0.1 ! application/x-rtp,media=video,"
             "clock-rate=90000,encoding-name=H264 ! rtph264depay ! avdec_h264 ! video/x-raw,format=I420 ! "
             f"identity eos-after=21 ! filesink location={received}".split()])
        self.addCleanup(receiver.wait)
        self.addCleanup(receiver.kill)
        wait_for(lambda: f":{port:04X} " in content("/proc/net/udp").decode())
        launch(f"{source} ! rtph264pay config-interval=-1 ! udpsink host=127.0.0.1 port={port}")
        self.assertEqual(receiver.wait(60), 0)
        data = content(received)
        self.assertGreaterEqual(len(data), 20 * PICTURE)
        known = set(pictures_of(stream))
        for at in range(0, len(data), PICTURE):
            self.assertIn(data[at:at + PICTURE], known)

    def test_two_in_one_pipeline(self):
        names = [self.path(name) for name in ("alone.264", "one.264", "two.264")]
        launch(f"{SOURCE} ! cu264enc ! filesink location={names[0]}")
        # The first waits in its queue while the second looks ahead.
        launch(f"{SOURCE} ! tee name=t ! queue max-size-buffers=0 max-size-time=0 ! cu264enc ! filesink location={names[1]} "
               f"t. ! queue ! cu264enc bitrate=300 ! filesink location={names[2]}")
        self.assertEqual(content(names[1]), content(names[0]))
        self.assertEqual(len(pictures_of(names[2])), FRAMES)

    def test_end_in_the_middle(self):
        """Ctrl-C with -e sends EOS: the file is whole, with the pictures that were looked at ahead."""
        path = self.path("cut.mp4")
        source = f"videotestsrc pattern=ball is-live=true ! {CAPS} ! identity silent=false"
        process = subprocess.Popen(["gst-launch-1.0", "-e", "-v", *source.split(), "!", "cu264enc", "bitrate=300", "!",
                                    "h264parse", "!", "mp4mux", "!", "filesink", f"location={path}"],
                                   stdout=subprocess.PIPE, text=True)
        sent = 0
        for line in process.stdout:  # identity says which buffers pass
            if "last-message = chain" in line:
                sent += 1
                if sent == 25:
                    process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 0)
        process.stdout.close()
        self.assertGreaterEqual(sent, 25)
        self.assertEqual(len(pictures_of(path)), sent)

    def test_no_leaks(self):
        for pipeline in (
                f"{SOURCE} ! cu264enc bitrate=300 ! h264parse ! mp4mux ! fakesink",
                f"{SOURCE} ! cu264enc zerolatency=true aud=true ! video/x-h264,stream-format=avc ! fakesink",
                f"{SOURCE} ! tee name=t ! queue ! cu264enc ! fakesink t. ! queue ! cu264enc ! fakesink",
        ):
            with self.subTest(pipeline):
                self.assertEqual(LEAK.findall(launch(pipeline, leaks=True)), [])

    def test_no_leaks_of_the_element(self):
        environment = dict(os.environ, GST_DEBUG_NO_COLOR="1", GST_TRACERS="leaks", GST_DEBUG="GST_TRACER:7")
        done = subprocess.run([ELEMENT_TEST], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
                              env=environment)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(LEAK.findall(done.stdout), [])

    def test_no_leaks_after_an_error(self):
        told = launch(f"{SOURCE} ! cu264enc rc-mode=cbr ! fakesink", expect=255, leaks=True)
        self.assertIn("needs a bitrate", told)
        self.assertEqual(LEAK.findall(told), [])


if __name__ == "__main__":
    if not shutil.which("gst-launch-1.0") or not shutil.which("ffmpeg"):
        print("gst-launch-1.0 or ffmpeg is not there")
        raise SystemExit(77)
    unittest.main()
