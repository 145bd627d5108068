"""Clips, corpora and pictures in the folder that was given, or stand-ins made by code.

A folder may hold clips as NAME_WIDTHxHEIGHT.yuv (I420) and pictures as PGM, both also packed by xz, or in any format
that the ffmpeg command reads; corpora as files, .xz and .tar.xz in a folder `corpora`. A picture PICTURE_gt is the
edges that people marked in PICTURE. Nothing is fetched.
"""
import os
import random
import re
import shutil
import subprocess

VIDEO, PICTURE = (".mkv", ".mp4", ".y4m", ".avi", ".webm"), (".png", ".jpg", ".jpeg", ".bmp")


def stand_in_frame(width, height, number):
    """Luma and chroma of a moving pattern with noise: no film, but blocks with and without detail."""
    noise = random.Random(number)
    luma = bytearray(width * height)
    for y in range(height):
        for x in range(width):
            wave = (x * x // 97 + (y + 3 * number) * 5) % 256 if (x // 64 + y // 64) % 2 else 90 + (x + y) // 16
            luma[y * width + x] = min(255, max(0, wave + noise.randrange(9) - 4))
    return bytes(luma), bytes([128]) * (width * height // 2)


class Inputs:
    def __init__(self, folder, work, frames):
        self.folder, self.work, self.frames, self.notes, self.used, self.totals = folder, work, frames, [], [], {}
        self.ffmpeg = shutil.which("ffmpeg")
        self.files = []
        for root, _, names in sorted(os.walk(folder)) if folder else []:
            self.files += [os.path.join(root, name) for name in sorted(names)]
        for part in ("clips", "pictures"):
            os.makedirs(os.path.join(work, part), exist_ok=True)

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def use(self, text):
        """Remembers an input that the page names."""
        if text not in self.used:
            self.used.append(text)

    def unpacked(self, path, folder):
        if not path.endswith(".xz"):
            return path
        out = os.path.join(self.work, folder, os.path.basename(path)[:-3])
        with open(out, "wb") as file:
            subprocess.run(["xz", "-dc", path], stdout=file, check=True)
        return out

    def clip(self, size, wanted):
        """A clip of the size "WxH" as I420, and its name: the wanted one, else one that nobody scaled ("derived")."""
        width, height = map(int, size.split("x"))
        found = [path for path in self.files if re.search(r"_%s\.yuv(\.xz)?$" % size, path)]
        if not found and self.ffmpeg:
            found = [path for path in self.files if path.endswith(VIDEO) and self.video_size(path) == size]
        found.sort(key=lambda path: (wanted not in os.path.basename(path).lower(), "derived" in os.path.basename(path)))
        if not found:
            self.note("There is no clip of %s, so a pattern made by code stands in for it." % size)
            path = os.path.join(self.work, "clips", "pattern_%s.yuv" % size)
            with open(path, "wb") as out:
                for number in range(min(self.frames, 2)):
                    out.write(b"".join(stand_in_frame(width, height, number)))
            return path, "pattern"
        path = found[0]
        if path.endswith(VIDEO):
            out = os.path.join(self.work, "clips", "%s_%s.yuv" % (os.path.splitext(os.path.basename(path))[0], size))
            self.convert("-i", path, "-fps_mode", "passthrough", "-frames:v", str(self.frames), "-f", "rawvideo", "-pix_fmt",
                         "yuv420p", out)
            self.totals[out] = self.video_pictures(path)
            path = out
        return self.unpacked(path, "clips"), re.sub(r"_\d+x\d+\.yuv(\.xz)?$", "", os.path.basename(path))

    def single_frames(self, path, size):
        """The first frames of a clip as clips of one frame each."""
        width, height = map(int, size.split("x"))
        total = self.totals.get(path) or str(os.path.getsize(path) // (width * height * 3 // 2))
        parts = []
        with open(path, "rb") as clip:
            while len(parts) < self.frames:
                frame = clip.read(width * height * 3 // 2)
                if len(frame) < width * height * 3 // 2:
                    break
                parts.append(os.path.join(self.work, "clips", "frame%d_%s.yuv" % (len(parts), size)))
                with open(parts[-1], "wb") as out:
                    out.write(frame)
        name = os.path.splitext(os.path.basename(path))[0]
        self.use("%s: %d of its %s pictures of %s" % (name, len(parts), total, size))
        return parts

    def corpora(self):
        folders = sorted({os.path.dirname(path) for path in self.files if os.path.basename(os.path.dirname(path)) == "corpora"})
        if folders:
            return folders
        self.note("There are no corpora, so 4 MB of words made by code stand in for them.")
        folder = os.path.join(self.work, "corpora")
        os.makedirs(folder, exist_ok=True)
        choose = random.Random(3)
        words = ["".join(choose.choices("etaoinshrdlucmfwypvbgkqjxz", weights=range(26, 0, -1), k=choose.randrange(1, 9)))
                 for _ in range(3000)]
        with open(os.path.join(folder, "words.txt"), "w", encoding="ascii") as out:
            out.write(" ".join(choose.choice(words) for _ in range(800000)))
        return [folder]

    def pictures(self):
        """Paths of pictures as PGM; marks lie beside them as NAME_gt.pgm."""
        found = []
        for path in self.files:
            if path.endswith((".pgm", ".pgm.xz")):
                found.append(self.unpacked(path, "pictures"))
            elif path.endswith(PICTURE) and self.ffmpeg:
                out = os.path.join(self.work, "pictures", os.path.splitext(os.path.basename(path))[0] + ".pgm")
                scale = ["-vf", "scale=out_range=pc"] if "_gt" not in out else []
                self.convert("-i", path, *scale, "-frames:v", "1", "-pix_fmt", "gray", out)
                found.append(out)
        if not found:
            self.note("There are no pictures, so a pattern made by code stands in for them.")
            found = [os.path.join(self.work, "pictures", "pattern.pgm")]
            with open(found[0], "wb") as out:
                out.write(b"P5 512 512 255\n" + stand_in_frame(512, 512, 0)[0])
        return [path for path in found if not path.endswith("_gt.pgm")]

    def squares(self, pictures):
        """The pictures' middles of 512x512, of those that are as large, as pictures of their own."""
        squares = []
        for path in pictures:
            with open(path, "rb") as file:
                header = re.match(rb"P5\s+(\d+)\s+(\d+)\s+255\s", file.read(64))
                width, height = int(header.group(1)), int(header.group(2))
                if min(width, height) < 512:
                    continue
                file.seek(header.end())
                samples = file.read()
            left, top = (width - 512) // 2, (height - 512) // 2
            out = os.path.join(self.work, "pictures", "square_" + os.path.basename(path))
            with open(out, "wb") as file:
                file.write(b"P5 512 512 255\n")
                for y in range(top, top + 512):
                    file.write(samples[y * width + left:y * width + left + 512])
            squares.append(out)
        return squares

    def video_size(self, path):
        done = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "stream=width,height", "-of",
                               "csv=s=x:p=0", path], stdout=subprocess.PIPE, universal_newlines=True, check=False)
        return done.stdout.strip()

    def video_pictures(self, path):
        done = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "v:0", "-count_packets", "-show_entries",
                               "stream=nb_read_packets", "-of", "csv=p=0", path], stdout=subprocess.PIPE, universal_newlines=True,
                              check=False)
        return done.stdout.strip().strip(",") or "an unknown number"

    def convert(self, *arguments):
        subprocess.run([self.ffmpeg, "-v", "error", "-nostdin", "-y", *arguments], check=True)
