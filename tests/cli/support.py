"""What the command's tests share: a folder of their own, clips made by ffmpeg, cu264 and ffprobe."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

CU264 = os.path.abspath(os.environ.get("CU264", "build/bin/cu264"))
if not os.path.exists(CU264):
    raise SystemExit(f"{CU264}: not there (the environment variable CU264 names the command to test)")
TIMEOUT = 120
HAS_FFMPEG = shutil.which("ffmpeg") and shutil.which("ffprobe")


def ffmpeg(*arguments, **keywords):
    return subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, arguments)], check=True, timeout=TIMEOUT,
                          stdin=subprocess.DEVNULL, **keywords)


def ffprobe(path, *arguments):
    text = subprocess.run(["ffprobe", "-v", "error", "-of", "json", *arguments, str(path)], check=True,
                          timeout=TIMEOUT, stdout=subprocess.PIPE).stdout
    return json.loads(text)


def video_stream(path):
    return ffprobe(path, "-show_streams", "-select_streams", "v:0", "-count_packets")["streams"][0]


def packet_times(path, stream="v:0"):
    """Presentation times in seconds, in the order of presentation."""
    packets = ffprobe(path, "-show_packets", "-select_streams", stream)["packets"]
    return sorted(float(packet["pts_time"]) for packet in packets)


def decoded_md5(path, *arguments):
    """ffmpeg's decode of the video as yuv420p, or of raw video, as one MD5."""
    return ffmpeg(*arguments, "-i", path, "-map", "0:v:0", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-vsync", "0",
                  "-f", "md5", "-", stdout=subprocess.PIPE).stdout.decode().strip()


@unittest.skipUnless(HAS_FFMPEG, "needs the ffmpeg and ffprobe commands")
class CommandTest(unittest.TestCase):
    """Each test class works in a fresh folder."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="cu264-cli-")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def clip(cls, name, source="testsrc2=size=96x64:rate=25", frames=10, *arguments):
        path = cls.path(name)
        if not os.path.exists(path):
            ffmpeg("-f", "lavfi", "-i", source, "-frames:v", frames, *(arguments or ["-pix_fmt", "yuv420p"]), path)
        return path

    def cu264(self, *arguments, code=0, **keywords):
        keywords.setdefault("stdin", subprocess.DEVNULL)
        keywords.setdefault("stdout", subprocess.PIPE)
        done = subprocess.run([CU264, *map(str, arguments)], stderr=subprocess.PIPE, timeout=TIMEOUT, **keywords)
        done.stderr = done.stderr.decode(errors="replace")
        self.assertEqual(done.returncode, code, f"cu264 {' '.join(map(str, arguments))}\n{done.stderr}")
        return done

    def encode(self, *arguments, **keywords):
        return self.cu264("encode", *arguments, **keywords)

    def refuse(self, code, pattern, *arguments, output="refused.mp4", **keywords):
        """The encode fails with this code and one line that matches; nothing is left where the output would be."""
        before = set(os.listdir(self.folder))
        if output:
            arguments = (*arguments, "-o", output if output == "-" or os.path.isabs(output) else self.path(output))
        done = self.encode(*arguments, code=code, **keywords)
        lines = [line for line in done.stderr.splitlines() if line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("cu264: error: "), done.stderr)
        self.assertTrue(re.search(pattern, lines[0]), f"'{pattern}' is not in: {lines[0]}")
        self.assertEqual(set(os.listdir(self.folder)), before, "a file was left behind")
        return done


SKIPPED = 77  # the exit status that CMakeLists.txt tells ctest about


def main():
    result = unittest.main(verbosity=1, exit=False).result
    if not result.wasSuccessful():
        raise SystemExit(1)
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    if result.skipped and len(result.skipped) >= result.testsRun:
        raise SystemExit(SKIPPED)
