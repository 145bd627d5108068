"""Cut and corrupted media: exit status 0 only where every picture was coded that the file's index or ffmpeg promises.

CU264_TEST_DAMAGED is the number of files that are tried (2000 takes minutes).
"""
import os
import random
import re
import subprocess
from collections import Counter

from support import CU264, TIMEOUT, CommandTest, ffprobe, main

FILES = int(os.environ.get("CU264_TEST_DAMAGED", "40"))
X264 = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "5", "-pix_fmt", "yuv420p"]
SOURCES = {"mp4": X264, "mkv": X264, "ts": X264, "gif": [], "jpg": []}


def promised_pictures(path):
    """Returns the number of pictures that the index says or that ffmpeg's libraries decode, whichever is more."""
    try:
        stream = ffprobe(path, "-count_frames", "-select_streams", "v:0", "-show_entries", "stream=nb_frames,nb_read_frames")
        found = stream["streams"][0]
    except (subprocess.CalledProcessError, IndexError):
        return 0
    return max(int(found.get(name, 0)) for name in ("nb_frames", "nb_read_frames"))


class Damaged(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.whole = {}
        for extension, arguments in SOURCES.items():
            frames = 1 if extension == "jpg" else 20
            path = cls.clip("whole." + extension, "testsrc2=size=64x48:rate=25", frames, *(arguments or ["-qscale:v", "3"]))
            with open(path, "rb") as file:
                cls.whole[extension] = file.read()

    def damaged(self, number):
        """The number decides how a file is damaged, so that a failure can be looked at again."""
        chance = random.Random(number)
        extension = list(SOURCES)[number % len(SOURCES)]
        data = bytearray(self.whole[extension])
        if number // len(SOURCES) % 2 == 0:
            del data[chance.randrange(16, len(data)):]
        else:
            for _ in range(chance.choice((1, 1, 3, 10))):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path = self.path(f"damaged{number}.{extension}")
        with open(path, "wb") as file:
            file.write(data)
        return extension, path

    def run_encode(self, path, *options):
        out = self.path("out.264")
        done = subprocess.run([CU264, "encode", path, "-o", out, "--preset", "fast", "--qp", "51", *options],
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=TIMEOUT)
        text = done.stderr.decode(errors="replace")
        data = b""
        if os.path.exists(out):
            with open(out, "rb") as file:
                data = file.read()
            os.remove(out)
        return done.returncode, text, data

    def test_nothing_is_lost_silently(self):
        outcomes = Counter()
        for number in range(FILES):
            extension, path = self.damaged(number)
            code, text, _ = self.run_encode(path)
            outcomes[extension, code] += 1
            with self.subTest(number=number, extension=extension):
                self.assertIn(code, (0, 2), text)
                if code == 0:
                    coded = int(re.search(r"(\d+) frames? of", text).group(1))
                    self.assertGreaterEqual(coded, promised_pictures(path), text)
            os.remove(path)
        for (extension, code), count in sorted(outcomes.items()):
            print(f"{extension}: exit status {code}: {count}")

    def test_partial_use_is_said_and_reproducible(self):
        seen = 0
        for number in range(200):
            extension, path = self.damaged(number)
            code, _, _ = self.run_encode(path)
            if code != 2:
                continue
            code, text, first = self.run_encode(path, "--allow-partial")
            if code != 0:
                continue
            with self.subTest(number=number, extension=extension):
                self.assertIn("damaged or cut-off", text)
                for _ in range(3):
                    self.assertEqual(self.run_encode(path, "--allow-partial")[2], first, "another run, other bytes")
            seen += 1
            if seen == 8:
                break
        self.assertEqual(seen, 8)


if __name__ == "__main__":
    main()
