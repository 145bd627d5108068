"""The command line: what it refuses, suggests and prints."""
import os

from support import CommandTest, main


class Usage(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.clip("in.y4m", frames=2)

    def test_help_and_version(self):
        for arguments in (["--help"], ["help"], ["encode", "--help"], ["devices", "--help"], ["--version"], ["-V"]):
            self.assertIn(b"cu264", self.cu264(*arguments, overwrite=False).stdout)
        help_text = self.cu264("encode", "--help").stdout.decode()
        self.assertLess(help_text.index("cu264 encode film.mkv"), help_text.index("--qp N"))
        for option in ("size pix-fmt fps seek frames allow-partial qp preset profile slices no-deblock backend device batch "
                       "threads output format fragmented recon psnr ssim verify stats progress quiet").split():
            self.assertIn("--" + option, help_text)

    def test_devices(self):
        text = self.cu264("devices").stdout.decode()
        self.assertRegex(text, r"cpu +usable: \d+ cores")
        self.assertRegex(text, r"cuda +(not )?usable")

    def test_unknown_verb(self):
        self.assertIn("did you mean encode", self.cu264("encod", code=1).stderr)
        self.assertIn("unknown verb", self.cu264("zzzzzzzz", code=1).stderr)
        self.cu264(code=1)

    def test_unknown_option(self):
        self.refuse(1, "did you mean --preset", self.input, "--presett", "fast")
        self.refuse(1, "unknown option --zzzzzzzz", self.input, "--zzzzzzzz")
        self.refuse(1, "unknown option --pre", self.input, "--pre", "fast")  # no abbreviations
        self.refuse(1, "unknown option -x ", self.input, "-x")
        self.refuse(1, r"unknown option -qp \(did you mean --qp\?\)", self.input, "-qp", "24")

    def test_options_without_their_values(self):
        self.refuse(1, "--encrypt has no value", self.input, "--encrypt", "--key-file", "k")
        self.refuse(1, "--qp has no value: --preset follows it", self.input, "--qp", "--preset=fast")
        self.refuse(1, "qp", self.input, "--qp", "--7")

    def test_switches_swallow_no_names(self):
        for number, switch in enumerate(("--cavlc", "--cbr", "--faststart", "--edge-guided", "--edge-guided=1")):
            out = self.path(f"switch{number}.{'ts' if switch == '--cbr' else 'mp4'}")
            more = ["--bitrate", "300"] if switch == "--cbr" else []
            for arguments in ([switch, self.input, out, *more], [*more, self.input, switch, out], [self.input, out, *more, switch]):
                self.encode(*arguments)
        for switch, value in (("--cavlc", "off"), ("--faststart", "on"), ("--edge-guided", "3")):
            self.refuse(1, f"written with =, as {switch}={value}", self.input, switch, value)

    def test_bad_values(self):
        for option, values in {
            "qp": ["52", "-1", "abc", "", "27.5", "99999999999"],
            "preset": ["slowest", "FAST"],
            "aq": ["variances", "1", ""],
            "edge-guided": ["4", "-1", "x"],
            "profile": ["high10", "Main", ""],
            "slices": ["0", "-3", "x"],
            "threads": ["-1", "many"],
            "frames": ["0", "-5", "ten"],
            "seek": ["-1", "nan", "inf", "1s"],
            "fps": ["0", "-25", "25/0", "x"],
            "backend": ["gpu"],
            "progress": ["yes"],
            "format": ["avi"],
            "device": ["-1", "x", "0,0", "0,"],
            "batch": ["-1", "x"],
            "entropy-kernel": ["CAVLCU", "cavlc-su", "fast", ""],
            "entropy": ["CAVLCU", "cavlc", "cavlc_su", ""],
            "packing": ["GVLE", "yavle", ""],
            "pipeline": ["card", "on", ""],
        }.items():
            for value in values:
                with self.subTest(option=option, value=value):
                    self.refuse(1, option if value else ".", self.input, f"--{option}={value}")
        self.refuse(1, "qp", self.input, "--qp", "-1")
        self.refuse(1, "qp", self.input, "--qp")

    def test_slices_beyond_the_picture(self):
        self.refuse(1, "slices", self.input, "--slices", "5")

    def test_input_and_output(self):
        self.refuse(1, "no input", output="out.mp4")
        self.refuse(1, "no output", self.input, output=None)
        self.refuse(1, "one name too many", self.input, self.input)
        self.refuse(1, "extension", self.input, output="out.avi")
        self.refuse(1, "extension", self.input, output="out")

    def test_files_that_collide(self):
        self.refuse(1, "same file", self.input, "--format", "h264", output=self.input)
        link = self.path("link.mp4")
        os.symlink(self.input, link)
        self.refuse(1, "same file", self.input, output=link)
        self.refuse(1, "same file", self.input, "--recon", self.input)
        self.refuse(1, "same file", self.input, "--stats", self.path("refused.mp4"))
        self.assertGreater(os.path.getsize(self.input), 2 * 96 * 64)

    def test_options_that_contradict(self):
        self.refuse(1, "--fragmented", self.input, "--fragmented", output="out.mkv")
        self.refuse(1, "--fragmented", self.input, "--format", "mp4", output="-")
        self.refuse(1, "--verify", self.input, "--verify", output="-")
        self.refuse(1, "--verify", self.input, "--verify", "--format", "h264", output="/dev/null")
        self.refuse(1, "--size", self.input, "--size", "96x64")
        self.refuse(1, "--device", self.input, "--backend", "cpu", "--device", "0")

    def test_cuda_without_a_device(self):
        if "cuda  usable" in self.cu264("devices").stdout.decode():
            self.skipTest("a CUDA device is usable")
        self.refuse(3, ".", self.input, "--backend", "cuda")
        self.refuse(3, ".", self.input, "--device", "0")
        self.refuse(3, ".", self.input, "--entropy-kernel", "cavlcu")


if __name__ == "__main__":
    main()
