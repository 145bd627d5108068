"""--vf: what a graph of FFmpeg's filters makes of size, shape and rate reaches the stream; a bad graph is one line."""
import math
import subprocess

from media_kinds import AVC, HALF, MIRROR, QUARTER, Kind, make, rotated
from support import CommandTest, decoded_md5, ffmpeg, main, packet_times, video_stream


class Filters(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.clip("in.mkv", "testsrc2=size=160x120:rate=25", 10, "-pix_fmt", "yuv420p", "-c:v", "ffv1")

    def filtered(self, graph, *options, source=None):
        out = self.path("out.mkv")
        self.encode(source or self.input, out, "--vf", graph, "--verify", *options)
        return video_stream(out)

    def test_size_and_shape(self):
        for graph, size in (("scale=80:-2", (80, 60)), ("crop=100:80", (100, 80)), ("transpose", (120, 160)),
                            ("scale=80:60,pad=96:64", (96, 64))):
            with self.subTest(graph=graph):
                stream = self.filtered(graph)
                self.assertEqual((stream["width"], stream["height"], stream["nb_read_packets"]), (*size, "10"))
        self.assertEqual(self.filtered("setsar=16/11")["sample_aspect_ratio"], "16:11")

    def test_pixels_are_those_of_ffmpeg(self):
        for graph in ("hflip", "crop=100:80:3:5", "transpose=2"):
            with self.subTest(graph=graph):
                wanted = self.path("wanted.mkv")
                ffmpeg("-i", self.input, "-vf", graph, "-c:v", "ffv1", wanted)
                self.encode(self.input, self.path("a.264"), "--vf", graph)
                self.encode(wanted, self.path("b.264"))
                self.assertEqual(decoded_md5(self.path("a.264")), decoded_md5(self.path("b.264")))

    def test_filters_see_what_autorotate_turned(self):
        """The result is that of ffmpeg, which turns the pictures by itself."""
        for name, matrix, graph in (("quarter", QUARTER, "crop=24:16:3:5"), ("half", HALF, "crop=24:16:3:5"),
                                    ("mirror", MIRROR, "[in]crop=24:16:3:5,pad=iw+16:ih+8:8[out]")):
            phone = make(Kind(name, name + ".mp4", [*AVC, "-vf", "setsar=16/11"], after=rotated(matrix)), self.folder)
            with self.subTest(matrix=name):
                wanted = self.path("turned.mkv")
                ffmpeg("-i", phone, "-vf", graph, "-c:v", "ffv1", wanted)
                self.encode(wanted, self.path("a.mp4"))
                self.encode(phone, self.path("b.mp4"), "--autorotate", "--vf", graph)
                a, b = (video_stream(self.path(file)) for file in ("a.mp4", "b.mp4"))
                self.assertEqual(decoded_md5(self.path("a.mp4")), decoded_md5(self.path("b.mp4")))
                self.assertEqual(a["sample_aspect_ratio"], b["sample_aspect_ratio"])
                self.assertNotIn("side_data_list", b)
        self.encode(phone, self.path("c.mp4"), "--vf", "hflip")
        self.assertEqual(video_stream(self.path("c.mp4"))["side_data_list"][0]["rotation"], -180)

    def test_rate(self):
        stream = self.filtered("fps=50")
        self.assertEqual((stream["avg_frame_rate"], stream["nb_read_packets"]), ("50/1", "20"))
        self.assertEqual(packet_times(self.path("out.mkv")), [n / 50 for n in range(20)])
        stream = self.filtered("fps=5")
        self.assertEqual((stream["avg_frame_rate"], stream["nb_read_packets"]), ("5/1", "2"))
        self.assertEqual(self.filtered("yadif=1")["nb_read_packets"], "20")

    def test_times_always_rise(self):
        self.assertEqual(self.filtered("setpts=0")["nb_read_packets"], "10")
        times = packet_times(self.path("out.mkv"))
        self.assertEqual(times, sorted(set(times)))

    def test_with_a_part_of_the_input(self):
        self.assertEqual(self.filtered("hflip", "--seek", "0.12", "--duration", "0.16")["nb_read_packets"], "4")
        self.assertEqual(self.filtered("fps=50", "--frames", "3")["nb_read_packets"], "3")

    def joined(self, name, *parts):
        """A bare stream of pieces of 3 pictures each, which differ in the shape of samples or in their format."""
        path = self.path(name)
        with open(path, "wb") as whole:
            for number, options in enumerate(parts):
                piece = self.clip(f"{name}.{number}.264", "testsrc2=size=96x64:rate=25", 3, *AVC, *options)
                with open(piece, "rb") as file:
                    whole.write(file.read())
        return path

    def test_samples_whose_shape_changes(self):
        """Filters see the shape that the first frame has: `scale` would make other sizes of it in the middle of a graph."""
        source = self.joined("shapes.264", *(("-vf", f"setsar={ratio}") for ratio in ("16/1", "1/16", "4/3")))
        for graph in ("format=rgb24,scale=iw*sar:ih:eval=frame", "scale=iw*sar:ih:eval=frame", "scale=iw*sar:ih:eval=frame,hflip",
                      "scale=iw*sar:ih:eval=frame,scale=1536:64", "format=gray10,scale=iw*sar:ih:eval=frame"):
            with self.subTest(graph=graph):
                stream = self.filtered(graph, source=source)
                self.assertEqual((stream["width"], stream["height"], stream["nb_read_packets"]), (1536, 64, "9"))
        self.cu264("edges", source, "-o", self.path("edges%d.pgm"), "--vf", "format=rgb24,scale=iw*sar:ih:eval=frame")

    def test_pictures_that_change_after_filters(self):
        """Each frame is looked at before anything is done with its samples, in every format and for every verb."""
        for graph in ("format=rgb24,scale=320-128*n:240:eval=frame", "scale=320-128*n:240:eval=frame",
                      "scale=16+640*n:240:eval=frame,format=yuv444p", "format=gray10,scale=320:16+480*n:eval=frame",
                      "scale=16+1600*n:16:eval=frame,format=rgba"):
            with self.subTest(graph=graph):
                self.refuse(2, r"in\.mkv: after --vf, pictures change from \S+ \S+ to \S+ \S+ at frame 1 ", self.input, "--vf", graph)
                done = self.cu264("edges", self.input, "-o", self.path("edges.mp4"), "--vf", graph, code=2)
                self.assertIn("after --vf, pictures change", done.stderr)

    def test_pictures_that_change_within_the_graph(self):
        """Filters after the change get pictures of one size, that of the first, where they would read and write beyond others."""
        for size, note in (("64+16*n:48", True), ("96-6*n:64-4*n", True), ("64+16*mod(n\\,3):48+8*n", True), ("96:64", False)):
            for rest in ("hflip", "tile=2x2", "nlmeans", "minterpolate=fps=50", "yadif", "crop=48:32", "lagfun,vflip", "transpose",
                         "split[a][b];[a]hflip[c];[c][b]hstack", "format=rgb24,boxblur=2", "scale=64:48", "null,scale=32:32,unsharp",
                         "thumbnail=2,hue=h=30", "pad=640:480:eval=frame,noise=alls=20,crop=96:64"):
                graph = f"scale={size}:eval=frame,{rest}"
                with self.subTest(graph=graph):
                    done = self.encode(self.input, "-o", self.path("out.mkv"), "--qp", 40, "--preset", "fast", "--vf", graph)
                    self.assertEqual("pictures change their size after scale" in done.stderr, note and "scale" not in rest, done.stderr)
        for graph in ("scale=160+16*n:120:eval=frame,pad=iw+16:ih:eval=frame,tile=2x2", "sendcmd=c='0.1 scale w 32',scale=96:64,nlmeans",
                      "sendcmd=c='0.1 crop w 32',crop=64:48,tile=2x2", "scale=96+16*n:64:eval=frame,scale=96-8*n:64:eval=frame,nlmeans",
                      "split[a][b];[a][b]scale2ref=w=iw+16*n:h=ih:eval=frame[c][d];[c]nlmeans,scale=160:120[e];[e][d]hstack"):
            with self.subTest(graph=graph):
                self.encode(self.input, "-o", self.path("out.mkv"), "--qp", 40, "--preset", "fast", "--vf", graph)
        # What is scaled to the first size, or to another, is the whole picture, and not a part of it.
        self.encode(self.input, "-o", self.path("b.264"), "--qp", 10)
        for rest in ("hflip", "scale=160:120,hflip", "scale=320+8*n:240:eval=frame,scale=160:120,hflip"):
            with self.subTest(rest=rest):
                self.encode(self.input, "-o", self.path("a.264"), "--vf", f"scale=160+32*n:120:eval=frame,{rest}", "--qp", 10)
                self.assertGreater(self.psnr(self.planes("a.264", "hflip"), self.planes("b.264")), 25)

    def test_a_format_that_changes_before_filters(self):
        """Filters are made for one format; frames of another are brought to it."""
        formats = ("yuv420p", "yuv444p", "yuv422p10le")
        for first in formats:
            rest = [other for other in formats if other != first]
            source = self.joined(f"{first}.264", *(("-pix_fmt", one) for one in (first, *rest)))
            with self.subTest(first=first):
                self.encode(source, self.path("a.264"), "--vf", "hflip")
                self.encode(source, self.path("b.264"), "--vf", "hflip,hflip")
                self.assertEqual(video_stream(self.path("a.264"))["nb_read_packets"], "9")
                planes = self.planes("a.264", "hflip"), self.planes("b.264")
                self.assertGreater(self.psnr(*planes), 35)

    def planes(self, name, graph="null"):
        return ffmpeg("-i", self.path(name), "-vf", graph, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-vsync", "0", "-",
                      stdout=subprocess.PIPE).stdout

    def psnr(self, a, b):
        self.assertEqual(len(a), len(b))
        error = sum((x - y) ** 2 for x, y in zip(a[::7], b[::7])) / len(a[::7])
        return 10 * math.log10(255 * 255 / max(error, 1e-9))

    def test_a_graph_is_trusted_as_the_command_line_is(self):
        """What help and SECURITY.md say: the graph reads and writes what it names; the input's protocols and lists are another matter."""
        said = self.path("said.txt")
        playlist = self.path("list.ts")
        with open(playlist, "w") as file:
            file.write(f"ffconcat version 1.0\nfile '{self.input}'\n")
        self.filtered(f"metadata=mode=add:key=a:value=b,metadata=print:file={said}")
        with open(said) as file:
            self.assertIn("a=b", file.read())
        self.refuse(2, "list of other files", playlist)
        self.assertEqual(self.filtered(f"[in]null[a];movie={self.input}[b];[a][b]hstack[out]")["width"], 320)
        help_text = self.cu264("encode", "--help").stdout.decode()
        self.assertRegex(" ".join(help_text.split()), "read and write whatever it names")
        self.assertRegex(" ".join(help_text.split()), "read the input over these of FFmpeg's protocols")

    def test_bad_graphs(self):
        for graph, reason in (("sacle=80:60", "No such filter: 'sacle'|No option name near"), ("scale=x", "scale=x"), ("split", "split"),
                              ("anull", "anull"), ("movie", "movie"), ("", "names no filter"),
                              ("[a]hflip", "hflip"), ("nullsink", "nullsink"), ("color", "color")):
            with self.subTest(graph=graph):
                self.refuse(1, reason, self.input, "--vf", graph)


if __name__ == "__main__":
    main()
