"""Closed captions (CEA-608, CEA-708) of the input's pictures stand in the output's, for ffmpeg to read."""
import re
import subprocess

import hrd
from made_captions import triples
from media_kinds import CAPTIONED, make
from support import TIMEOUT, CommandTest, decoded_md5, ffmpeg, main

def read_captions(path):
    """The captions as ffmpeg's decoder gives them out, a text of bytes for each picture that has some."""
    told = subprocess.run(["ffprobe", "-v", "error", "-f", "lavfi", "-i", f"movie={path}[out0+subcc]", "-select_streams", "s",
                           "-show_packets", "-show_data", "-of", "compact"], check=True, timeout=TIMEOUT, text=True,
                          stdout=subprocess.PIPE).stdout
    found = []
    for line in told.split("packet|")[1:]:
        dump = re.findall(r"[0-9a-f]{8}: ((?:[0-9a-f]{2,4} )+)", line)
        found.append(bytes.fromhex("".join(dump).replace(" ", "")))
    return found


WANTED = [triples(number) for number in range(25)]


class Captions(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.path("captioned.mkv")
        ffmpeg("-r", 25, "-i", make(CAPTIONED, cls.folder), "-c", "copy", cls.input)

    def test_the_input_has_them(self):
        self.assertEqual(read_captions(self.input), WANTED)

    def test_every_container_keeps_them(self):
        for extension, options in (("mp4", []), ("mov", ["--fragmented"]), ("mkv", ["--slices", "2"]), ("ts", []), ("264", []),
                                   ("264", ["--headers", "first"]), ("mp4", ["--verify", "--threads", "2"])):
            with self.subTest(extension=extension, options=options):
                out = self.path("out." + extension)
                done = self.encode(self.input, out, "--preset", "fast", *options)
                self.assertNotIn("caption", done.stderr)
                self.assertEqual(read_captions(out), WANTED)

    def test_they_change_no_picture(self):
        ffmpeg("-i", self.input, "-c", "copy", "-bsf:v", "filter_units=remove_types=6", self.path("plain.mkv"))
        sums = []
        for source in (self.input, self.path("plain.mkv")):
            self.encode(source, self.path("out.264"), "--preset", "fast")
            sums.append(decoded_md5(self.path("out.264")))
        self.assertEqual(*sums)
        self.assertEqual(read_captions(self.path("out.264")), [])

    def test_filters_keep_them(self):
        self.encode(self.input, self.path("half.mkv"), "--vf", "scale=32:24")
        self.assertEqual(read_captions(self.path("half.mkv")), WANTED)
        done = self.encode(self.input, self.path("few.mkv"), "--vf", "select=not(mod(n\\,5))")
        self.assertEqual(read_captions(self.path("few.mkv")), WANTED[::5])
        self.assertRegex(done.stderr, "note: .*closed captions of 20 pictures dropped")

    def test_limits_count_them(self):
        for headers in ("first", "every"):
            for limit in (["--frame-bytes", 3000], ["--max-frame-bytes", 900, "--qp", 5], ["--bitrate", 400, "--cbr"]):
                with self.subTest(headers=headers, limit=limit):
                    path = self.path("limited.264")
                    self.encode(self.input, path, "--preset", "fast", "--headers", headers, *limit)
                    self.assertEqual(read_captions(path), WANTED)
                    units = hrd.traced(path)
                    sizes = [unit["bytes"] for unit in units]
                    if limit[0] == "--frame-bytes":
                        self.assertEqual(set(sizes), {3000})
                    elif limit[0] == "--max-frame-bytes":
                        self.assertLessEqual(max(sizes), 900)
                        self.assertGreater(max(sizes), 850)
                    else:
                        self.assertEqual(hrd.Buffer(units).faults, [])

    def test_a_part_of_the_input(self):
        done = self.encode(self.input, self.path("part.mkv"), "--seek", "0.2", "--frames", "5")
        self.assertEqual(read_captions(self.path("part.mkv")), WANTED[5:10])
        self.assertNotIn("caption", done.stderr)

    def test_protection_leaves_them(self):
        self.cu264("protect", "new-key", self.path("key"))
        self.encode(self.input, self.path("sealed.mp4"), "--encrypt", "signs", "--key-file", self.path("key"))
        self.assertEqual(read_captions(self.path("sealed.mp4")), WANTED)
        self.cu264("protect", "decrypt", self.path("sealed.mp4"), "-o", self.path("opened.mp4"), "--key-file", self.path("key"))
        self.assertEqual(read_captions(self.path("opened.mp4")), WANTED)


if __name__ == "__main__":
    main()
