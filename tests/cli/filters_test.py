"""--vf: what a graph of FFmpeg's filters makes of size, shape and rate reaches the stream; a bad graph is one line."""
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

    def test_bad_graphs(self):
        for graph, reason in (("sacle=80:60", "No such filter: 'sacle'|No option name near"), ("scale=x", "scale=x"), ("split", "split"),
                              ("anull", "anull"), ("movie", "movie"), ("", "names no filter"),
                              ("[a]hflip", "hflip"), ("nullsink", "nullsink"), ("color", "color")):
            with self.subTest(graph=graph):
                self.refuse(1, reason, self.input, "--vf", graph)


if __name__ == "__main__":
    main()
