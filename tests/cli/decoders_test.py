"""Random streams in three decoders that share no code: libavcodec, openh264 and the JM.

CU264_TEST_JM names ldecod, the decoder of the JM, H.264's reference software, which no distribution packages.
CU264_TEST_CASES says how many cases there are, and CU264_TEST_SEED which is the first: a case follows from its number."""
import hashlib
import os
import random
import subprocess
import unittest

from support import TIMEOUT, CommandTest, ffmpeg, main

OPENH264 = os.environ.get("OPENH264_PICTURES", "")
JM = os.environ.get("CU264_TEST_JM", "")
CASES = int(os.environ.get("CU264_TEST_CASES", "20"))
SEED = int(os.environ.get("CU264_TEST_SEED", "1"))


def plane(choose, width, height):
    """Bands of rows: flat, ramps, stripes, and noise, of which a low QP makes I_PCM."""
    rows = []
    while len(rows) < height:
        kind, low, reach = choose.choice(("flat", "ramp", "stripes", "noise", "noise")), choose.randrange(256), choose.randrange(1, 257)
        levels = bytes(min(255, low + value * reach // 256) for value in range(256))
        for _ in range(choose.randrange(1, 40)):
            if kind == "noise":
                row = choose.randbytes(width)
            elif kind == "stripes":
                row = bytes(255 * (x // (1 + reach % 9) % 2) for x in range(width))
            else:
                row = bytes(0 if kind == "flat" else 255 * x // width for x in range(width))
            rows.append(row.translate(levels))
    return b"".join(rows[:height])


class Case:
    def __init__(self, number, published):
        choose = random.Random(number)
        self.width, self.height = 2 * choose.randrange(8, 90), 2 * choose.randrange(8, 60)
        self.frames = choose.randrange(1, 4)
        self.raw = b"".join(plane(choose, self.width // part, self.height // part) for _ in range(self.frames) for part in (1, 2, 2))
        profile = choose.choice(("auto", "baseline", "main", "high"))
        self.options = ["--pipeline", "published"] if published else []
        self.options += ["--preset", choose.choice(("fast", "balanced", "best")), "--profile", profile,
                         "--qp", str(choose.choice((0, choose.randrange(12), choose.randrange(52)))),
                         "--slices", str(choose.randrange(1, min(4, (self.height + 15) // 16) + 1))]
        self.options += choose.choice(([], ["--edge-guided=1"], ["--edge-guided=3"]))
        self.options += choose.choice(([], [], ["--no-deblock"]))
        if profile == "high":
            self.options += choose.choice(([], ["--cqm", "jvt"]))
        if not published:
            self.options += choose.choice(([], [], ["--cavlc"]))
            if "--cqm" not in self.options:  # P pictures take no scaling lists
                self.options += choose.choice(([], ["--gop", "0"], ["--gop", "2"]))


@unittest.skipUnless(OPENH264, "openh264 (libopenh264-dev) was not there when the tests were built")
@unittest.skipUnless(JM, "CU264_TEST_JM names no ldecod, the decoder of the JM reference software")
class Decoders(CommandTest):
    def pictures(self, path, case):
        """The SHA-256 of each picture of raw video."""
        with open(path, "rb") as file:
            video = file.read()
        size = case.width * case.height * 3 // 2
        return ["%dx%d %s" % (case.width, case.height, hashlib.sha256(video[at:at + size]).hexdigest())
                for at in range(0, len(video), size)]

    def by_libavcodec(self, stream, case):
        shown = self.path("libavcodec.yuv")
        ffmpeg("-i", stream, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-fps_mode", "passthrough", shown)
        return self.pictures(shown, case)

    def by_openh264(self, stream, _):
        done = subprocess.run([OPENH264, stream], check=True, timeout=TIMEOUT, stdout=subprocess.PIPE)
        return done.stdout.decode().splitlines()

    def by_jm(self, stream, case):
        shown = self.path("jm.yuv")
        parameters = [word for value in ("InputFile=" + stream, "OutputFile=" + shown, "RefFile=", "Silent=1") for word in ("-p", value)]
        subprocess.run([os.path.abspath(JM), *parameters], check=True, timeout=TIMEOUT, cwd=self.folder, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return self.pictures(shown, case)

    def test_published(self):
        self.compare(published=True)

    def test_production(self):
        """With CABAC and P pictures, too."""
        self.compare(published=False)

    def compare(self, published):
        raw, stream, recon = self.path("clip.yuv"), self.path("case.264"), self.path("recon.yuv")
        for number in range(SEED, SEED + CASES):
            case = Case(number, published)
            with self.subTest(case=number, size=(case.width, case.height), options=case.options):
                with open(raw, "wb") as file:
                    file.write(case.raw)
                self.encode(raw, "--size", f"{case.width}x{case.height}", "-o", stream, "--backend", "cpu", "--recon", recon, *case.options)
                expected = self.pictures(recon, case)
                self.assertEqual(len(expected), case.frames)
                for decode in (self.by_libavcodec, self.by_openh264, self.by_jm):
                    with self.subTest(decoder=decode.__name__):
                        self.assertEqual(decode(stream, case), expected)


if __name__ == "__main__":
    main()
