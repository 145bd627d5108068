"""cu264 encode --edge-guided: --edges-out writes the maps of cu264 edges, by the same thresholds; what is refused."""
import hashlib
import os

from support import CommandTest, decoded_md5, main, video_stream


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class EdgesOut(CommandTest):
    def moving(self):
        return self.clip("moving.y4m", "testsrc2=size=101x67:rate=25", 7)

    def maps(self, pattern, count):
        names = [self.path(pattern % number) for number in range(1, count + 1)]
        return [digest(name) for name in names]

    def test_maps_are_those_of_the_verb(self):
        for thresholds, detector in ((None, []), ("distributed", []), ("rows", ["--partition", "rows"]),
                                     ("frame", ["--partition", "frame"]),
                                     ("frame-0.01", ["--partition", "frame", "--candidates", "0.01"]),
                                     ("distributed-0.01", ["--candidates", "0.01"]),
                                     ("0.08,0.19", ["--fixed", "0.08,0.19"])):
            with self.subTest(thresholds=thresholds):
                chosen = ["--edge-thresholds", thresholds] if thresholds else []
                self.encode(self.moving(), self.path("guided.264"), "--edge-guided", "--edges-out",
                            self.path("guide%02d.pgm"), *chosen)
                self.cu264("edges", self.moving(), self.path("verb%02d.pgm"), *detector)
                guide = self.maps("guide%02d.pgm", 7)
                self.assertEqual(guide, self.maps("verb%02d.pgm", 7))
                self.assertGreater(len(set(guide)), 1)
                self.assertFalse(os.path.exists(self.path("guide08.pgm")))

    def test_maps_do_not_change_the_stream(self):
        for aq in (["--edge-guided=3"], ["--aq", "edges", "--aq-strength", "3"]):
            self.encode(self.moving(), self.path("with.264"), *aq, "--edges-out", self.path("e.mkv"))
            self.encode(self.moving(), self.path("without.264"), *aq)
            self.assertEqual(digest(self.path("with.264")), digest(self.path("without.264")))
        self.encode(self.moving(), self.path("steps.264"), "--aq", "steps", "--aq-strength", "3")
        self.assertNotEqual(decoded_md5(self.path("steps.264")), decoded_md5(self.path("without.264")))

    def test_kinds_of_output(self):
        self.encode(self.moving(), self.path("out.mp4"), "--edge-guided", "--edges-out", self.path("e.mp4"))
        self.cu264("edges", self.moving(), self.path("verb.mp4"))
        self.assertEqual(decoded_md5(self.path("e.mp4")), decoded_md5(self.path("verb.mp4")))
        self.assertEqual(video_stream(self.path("e.mp4"))["nb_read_packets"], "7")
        self.encode(self.moving(), self.path("out.mp4"), "--edge-guided", "--edges-out", self.path("e%d.png"))
        self.cu264("edges", self.moving(), self.path("verb%d.png"))
        self.assertEqual(self.maps("e%d.png", 7), self.maps("verb%d.png", 7))
        piped = self.encode(self.moving(), self.path("out.mp4"), "--edge-guided", "--edges-out", "-", "-q")
        self.cu264("edges", self.moving(), self.path("p%d.pgm"))
        files = b""
        for number in range(1, 8):
            with open(self.path("p%d.pgm" % number), "rb") as file:
                files += file.read()
        self.assertEqual(piped.stdout, files)

    def test_with_rate_control_and_several_passes(self):
        self.encode(self.moving(), self.path("rate.264"), "--bitrate", "300", "--edge-guided", "--edges-out",
                    self.path("rate%d.pgm"))
        self.encode(self.moving(), self.path("sized.264"), "--target-size", "12000", "--edge-guided", "--edges-out",
                    self.path("sized%d.pgm"))
        self.cu264("edges", self.moving(), self.path("own%d.pgm"))
        self.assertEqual(self.maps("rate%d.pgm", 7), self.maps("own%d.pgm", 7))
        self.assertEqual(self.maps("sized%d.pgm", 7), self.maps("own%d.pgm", 7))

    def test_what_is_refused(self):
        clip = self.moving()
        for pattern, arguments in (
                ("edges-out writes the maps of --edge-guided", ["--edges-out", self.path("n.pgm")]),
                ("edges-out writes the maps of --edge-guided", ["--aq", "steps", "--edges-out", self.path("n%d.pgm")]),
                ("edges-out writes the maps of --edge-guided", ["--edge-guided=0", "--edges-out", self.path("n.pgm")]),
                ("no known kind of output", ["--edge-guided", "--edges-out", self.path("n.bmp")]),
                ("names no file", ["--edge-guided", "--edges-out", ""]),
                ("names one picture", ["--edge-guided", "--edges-out", self.path("n.pgm")]),
                ("is the same file", ["--edge-guided", "--edges-out", self.path("refused.mp4")]),
                ("bad edge-thresholds", ["--edge-guided", "--edge-thresholds", "0.2,0.1"]),
                ("of no use without edge-guided", ["--edge-thresholds", "frame"]),
                ("both set the QP", ["--edge-guided", "--aq", "steps"]),
                ("both say how strongly", ["--edge-guided", "--aq-strength", "2"]),
                ("is for aq edges and aq steps", ["--aq", "variance", "--aq-strength", "2"]),
                ("bad aq-strength", ["--aq", "steps", "--aq-strength", "0"])):
            with self.subTest(arguments=arguments):
                self.refuse(1, pattern, clip, *arguments)
        self.refuse(1, "both go to standard output", clip, "--edge-guided", "--edges-out", "-", output="-")


if __name__ == "__main__":
    main()
