"""Pictures that are unlike the first in format, range, matrix or size: each is converted by what it says of itself."""
import os
import subprocess

from support import CommandTest, ffmpeg, main, video_stream

try:
    from PIL import Image
except ImportError:
    Image = None

COLOUR = (0xC8, 0x3C, 0x14)
GRAY = (0x5A, 0x5A, 0x5A)
SIZE = (64, 48)


def source(colour):
    return ["-f", "lavfi", "-i", "color=0x%02X%02X%02X:size=%dx%d:rate=25,format=gbrp" % (*colour, *SIZE)]


def rgb_jpeg(path):
    """A JPEG whose components are R, G and B, which their names say."""
    planes = b"".join(bytes([level]) * (SIZE[0] * SIZE[1]) for level in COLOUR)
    ffmpeg_input = ["-f", "rawvideo", "-pix_fmt", "yuvj444p", "-s", "%dx%d" % SIZE, "-i", "-"]
    subprocess.run(["ffmpeg", "-v", "error", "-y", *ffmpeg_input, "-qscale", "1", path], input=planes, check=True)
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        for marker, skip, step in ((b"\xff\xc0", 10, 3), (b"\xff\xda", 5, 2)):
            at = data.index(marker) + skip
            for number, name in enumerate(b"RGB"):
                data[at + number * step] = name
        file.seek(0)
        file.write(data)


class ChangingPictures(CommandTest):
    def colours(self, path):
        """The mean of R, G and B in each picture."""
        pixels = ffmpeg("-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-vf", "scale=out_range=pc", "-vsync", "0", "-",
                        stdout=subprocess.PIPE).stdout
        stream = video_stream(path)
        size = stream["width"] * stream["height"] * 3
        return [[sum(pixels[at + c:at + size:3]) / (size / 3) for c in range(3)] for at in range(0, len(pixels), size)]

    def check(self, given, wanted, *options, note=True):
        out = self.path("out.mp4")
        done = self.encode(given, "-o", out, "--qp", 4, "--verify", *options)
        found = self.colours(out)
        self.assertEqual(len(found), len(wanted), given)
        for number, (ours, colour) in enumerate(zip(found, wanted)):
            for a, b in zip(ours, colour):
                self.assertAlmostEqual(a, b, delta=5, msg=f"{given}: picture {number} is {ours}, not {colour}")
        changes = done.stderr.count("pictures change from")
        self.assertEqual(changes, 1 if note else 0, done.stderr)
        return done

    def sequence(self, name, pictures):
        """Pictures of one sequence, each as its file's extension and what makes it."""
        wanted = []
        for number, (kind, colour) in enumerate(pictures):
            path = self.path(f"{name}{number}.{kind[0]}")
            if kind[1] == "rgb jpeg":
                rgb_jpeg(path)
            elif kind[1] == "cmyk":
                Image.new("RGB", SIZE, colour).convert("CMYK").save(path, quality=95)
            else:
                ffmpeg(*source(colour), "-frames:v", 1, "-pix_fmt", kind[1], path)
            wanted.append(colour)
        return self.path(f"{name}%d.{pictures[0][0][0]}"), wanted

    def test_jpegs(self):
        kinds = ["yuvj420p", "yuvj422p", "yuvj444p", "gray", "rgb jpeg"] + (["cmyk"] if Image else [])
        for first in kinds:
            order = [first] + [kind for kind in kinds if kind != first]
            pictures = [(("jpg", kind), GRAY if kind == "gray" else COLOUR) for kind in order]
            with self.subTest(first=first):
                self.check(*self.sequence(first.replace(" ", ""), pictures))

    def test_other_pictures(self):
        for extension, kinds in (("png", ("rgb24", "gray", "rgb48be", "pal8", "rgba", "gray16be")),
                                 ("tiff", ("rgb24", "gray", "yuv420p", "rgb48le")), ("bmp", ("bgr24", "gray", "bgra"))):
            for turn in (0, 1):
                order = kinds[turn:] + kinds[:turn]
                pictures = [((extension, kind), GRAY if "gray" in kind else COLOUR) for kind in order]
                with self.subTest(extension=extension, first=order[0]):
                    self.check(*self.sequence(f"{extension}{turn}", pictures))

    def piece(self, name, scale, tags, frames=3, size=SIZE):
        path = self.path(name)
        ffmpeg(*source(COLOUR), "-frames:v", frames, "-vf", "scale=%d:%d:%s" % (*size, scale), "-pix_fmt", "yuv420p", "-c:v",
               "libx264", "-qp", 4, "-g", 1, "-bf", 0, "-x264-params", tags, path)
        return path

    def joined(self, name, *pieces):
        with open(self.path(name), "wb") as whole:
            for piece in pieces:
                with open(piece, "rb") as file:
                    whole.write(file.read())
        return self.path(name)

    def test_streams(self):
        limited = self.piece("limited.264", "out_color_matrix=bt601:out_range=tv", "colormatrix=smpte170m:range=tv")
        full = self.piece("full.264", "out_color_matrix=bt601:out_range=pc", "colormatrix=smpte170m:range=pc")
        hd = self.piece("hd.264", "out_color_matrix=bt709:out_range=tv", "colormatrix=bt709:range=tv")
        hd_full = self.piece("hdfull.264", "out_color_matrix=bt709:out_range=pc", "colormatrix=bt709:range=pc")
        for number, pieces in enumerate(((limited, full), (full, limited), (limited, hd, hd_full), (hd, limited), (hd_full, full, hd))):
            with self.subTest(number=number):
                self.check(self.joined(f"joined{number}.264", *pieces), [COLOUR] * 3 * len(pieces))
        self.check(self.joined("same.264", limited, limited), [COLOUR] * 6, note=False)
        self.check(self.joined("filtered.264", limited, full), [COLOUR] * 6, "--vf", "hflip")

    def test_sizes(self):
        """Filters may bring pictures of different sizes to one; without them a change is refused."""
        tags = "colormatrix=smpte170m:range=tv"
        sizes = [self.piece(f"size{number}.264", "out_color_matrix=bt601", tags, 2, size)
                 for number, size in enumerate(((96, 64), (128, 80), (64, 96)))]
        for number, order in enumerate(((0, 1), (1, 0, 2), (2, 1, 0, 1))):
            both = self.joined(f"sizes{number}.264", *(sizes[index] for index in order))
            self.refuse(2, "the frame size changes from", both)
            self.refuse(2, "after --vf, pictures change", both, "--vf", "hflip")
            self.check(both, [COLOUR] * 2 * len(order), "--vf", "scale=64:48", note=False)
            stream = video_stream(self.path("out.mp4"))
            self.assertEqual((stream["width"], stream["height"]), (64, 48))


if __name__ == "__main__":
    main()
