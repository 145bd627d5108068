"""The papers' stages: the bytes of --cavlc, in streams that two decoders decode."""
import os
import subprocess
import unittest

from support import TIMEOUT, CommandTest, decoded_md5, ffmpeg, main, video_stream

OPENH264 = os.environ.get("OPENH264_PICTURES", "")

STAGES = ("--entropy", "cavlcu"), ("--packing", "gvle"), ("--entropy", "cavlcu", "--packing", "gvle")


class Pipeline(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Something of everything: detail, noise that becomes I_PCM at QP 0, black, and sides that are no multiple of 16.
        cls.raw = cls.path("clip.yuv")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=198x102:rate=25,noise=alls=60:allf=t", "-f", "lavfi", "-i",
               "color=black:size=198x102:rate=25", "-filter_complex",
               "[0:v]trim=end_frame=3[a];[1:v]trim=end_frame=2[b];[a][b]concat=n=2", "-pix_fmt", "yuv420p", "-f", "rawvideo", cls.raw)

    def bytes_of(self, name, *options, source=None, backend="cpu"):
        source = [self.raw, "--size", "198x102"] if source is None else [source]
        path = self.path(name)
        self.encode(*source, "-o", path, "-y", "--backend", backend, *options)
        with open(path, "rb") as file:
            return file.read()

    def test_bytes_are_those_of_cavlc(self):
        for options in ((), ("--profile", "main"), ("--profile", "baseline", "--preset", "fast"), ("--qp", "0", "--slices", "3"),
                        ("--crf", "25", "--preset", "fast")):
            plain = self.bytes_of("plain.264", "--cavlc", *options)
            for stages in STAGES:
                with self.subTest(options=options, stages=stages):
                    self.assertEqual(self.bytes_of("stages.264", *stages, *options), plain)

    def test_the_published_pipeline(self):
        published, guided = self.path("o.264"), self.bytes_of("guided.264", "--cavlc", "--edge-guided=2")
        self.assertEqual(self.bytes_of("o.264", "--pipeline", "published"), guided)
        self.assertNotEqual(guided, self.bytes_of("plain.264", "--cavlc"))
        stream = video_stream(published)
        self.assertEqual((stream["codec_name"], stream["profile"], stream["nb_read_packets"]), ("h264", "High", "5"))
        recon = self.path("recon.yuv")
        self.bytes_of("again.264", "--pipeline", "published", "--recon", recon)
        self.assertEqual(decoded_md5(published),
                         decoded_md5(recon, "-f", "rawvideo", "-s", "198x102", "-pix_fmt", "yuv420p"))
        self.assertEqual(self.bytes_of("o1.264", "--pipeline", "published", "--edge-guided=1"),
                         self.bytes_of("g1.264", "--cavlc", "--edge-guided=1"))
        self.assertEqual(self.bytes_of("p.264", "--pipeline", "production"), self.bytes_of("d.264"))

    @unittest.skipUnless(OPENH264, "openh264 (libopenh264-dev) was not there when the tests were built")
    def test_a_second_decoder(self):
        """openh264 shows the pictures of the reconstruction."""
        for options in ((), ("--profile", "baseline", "--slices", "3"), ("--qp", "0"), ("--preset", "best")):
            with self.subTest(options=options):
                recon = self.path("second.yuv")
                self.bytes_of("second.264", "--pipeline", "published", "--recon", recon, *options)
                hashes = ffmpeg("-f", "rawvideo", "-s", "198x102", "-pix_fmt", "yuv420p", "-i", recon, "-f", "framehash", "-hash", "sha256",
                                "-", stdout=subprocess.PIPE).stdout.decode()
                expected = ["198x102 " + line.split(",")[-1].strip() for line in hashes.splitlines() if not line.startswith("#")]
                shown = subprocess.run([OPENH264, self.path("second.264")], check=True, timeout=TIMEOUT, stdout=subprocess.PIPE).stdout
                self.assertEqual(len(expected), 5)
                self.assertEqual(shown.decode().splitlines(), expected)

    def test_into_containers(self):
        plain = self.path("plain.264")
        self.bytes_of("plain.264", "--cavlc", "--edge-guided=2")
        for name in ("o.mp4", "o.mkv"):
            self.bytes_of(name, "--pipeline", "published")
            self.assertEqual(decoded_md5(self.path(name)), decoded_md5(plain))

    def test_notes_say_why_there_is_no_cabac(self):
        done = self.encode(self.raw, "--size", "198x102", "-o", self.path("n.264"), "-y", "--backend", "cpu", "--pipeline", "published")
        self.assertIn("high with CAVLC (the entropy coder cavlcu needs CAVLC)", done.stderr)

    def test_what_contradicts_is_refused(self):
        for options, word in ((("--entropy", "cavlcu", "--cavlc=off"), "--entropy cavlcu works on CAVLC"),
                              (("--packing", "gvle", "--cavlc=off"), "--packing gvle works on CAVLC"),
                              (("--pipeline", "published", "--aq", "variance"), "edge-guided and aq"),
                              (("--entropy", "cavlcu", "--entropy-kernel", "cavlc_su"), "--entropy-kernel")):
            with self.subTest(options=options):
                self.refuse(1, word, self.raw, "--size", "198x102", *options)

    def test_on_a_gpu(self):
        if "cuda  usable" not in self.cu264("devices").stdout.decode():
            self.skipTest("no CUDA device is usable")
        sources = [None]
        folder = os.environ.get("CU264_TEST_DATA")
        if folder:
            clips = sorted(os.listdir(os.path.join(folder, "video")))
            sources += [os.path.join(folder, "video", clip) for clip in clips if clip.endswith(".mkv")][:2]
        for source in sources:
            for options in (("--preset", "fast"), ("--qp", "0", "--preset", "fast"), ("--slices", "4")):
                frames = () if source is None else ("--frames", "8")
                for stages in (*STAGES, ("--pipeline", "published")):
                    guide = ("--edge-guided=2",) if "--pipeline" in stages else ()
                    with self.subTest(source=source, options=options, stages=stages):
                        self.assertEqual(self.bytes_of("card.264", *stages, *options, *frames, source=source, backend="cuda"),
                                         self.bytes_of("plain.264", "--cavlc", *guide, *options, *frames, source=source))


if __name__ == "__main__":
    main()
