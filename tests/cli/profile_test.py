"""--profile main in every container, what it needs CAVLC for, and what the tools for CAVLC say of its streams."""
import json

from support import CommandTest, decoded_md5, main, video_stream


class Profile(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.clip("in.y4m", frames=4)

    def main_clip(self, name, *options):
        self.encode(self.input, "-o", self.path(name), "--profile", "main", "--backend", "cpu", *options)
        return self.path(name)

    def test_containers_say_main_and_decode_to_the_reconstruction(self):
        for name in ("a.mp4", "a.mkv", "a.mov", "a.ts", "a.264"):
            with self.subTest(name=name):
                path = self.main_clip(name, "--recon", self.path("recon.yuv"), "--slices", "2")
                self.assertEqual(video_stream(path)["profile"], "Main")
                raw = ("-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "96x64")
                self.assertEqual(decoded_md5(path), decoded_md5(self.path("recon.yuv"), *raw))

    def test_verify_and_stats(self):
        self.main_clip("stats.mp4", "--verify", "--stats", self.path("stats.json"))
        with open(self.path("stats.json"), encoding="utf-8") as file:
            settings = json.load(file)["settings"]
        self.assertEqual((settings["profile"], settings["cabac"]), ("main", True))

    def test_cavlc_in_main(self):
        path = self.main_clip("cavlc.264", "--cavlc")
        self.assertEqual(video_stream(path)["profile"], "Main")
        self.cu264("protect", "new-key", self.path("key"))
        self.cu264("protect", "encrypt", path, "-o", self.path("sealed.264"), "--key-file", self.path("key"))

    def test_cabac_refuses_what_works_on_cavlc(self):
        self.cu264("protect", "new-key", self.path("key2"))
        key = ("--key-file", self.path("key2"))
        self.refuse(1, "CAVLC", self.input, "--profile", "main", "--encrypt", "signs", *key)
        coded = self.main_clip("coded.264")
        refused = self.cu264("protect", "encrypt", coded, "-o", self.path("no.264"), *key, code=2).stderr
        self.assertRegex(refused, "the stream has CABAC entropy coding .*CAVLC")

    def write(self, name, text):
        with open(self.path(name), "w", encoding="ascii", newline="") as file:
            file.write(text)
        return self.path(name)

    def high_clip(self, name, *options):
        self.encode(self.input, "-o", self.path(name), "--profile", "high", *options, "--recon", self.path("recon.yuv"))
        raw = ("-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "96x64")
        self.assertEqual(decoded_md5(self.path(name)), decoded_md5(self.path("recon.yuv"), *raw))
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_scaling_lists(self):
        flat, jvt = (self.high_clip(f"{cqm}.264", "--cqm", cqm, "--backend", "cpu") for cqm in ("flat", "jvt"))
        self.assertNotIn(b"cqm=", flat)
        self.assertIn(b"cqm=jvt", jvt)
        # The default 4x4 lists in raster order, with the comments, commas and ends of lines of such files.
        rows = "# the standard's\n6,13,20,28,\n13,20,28,32\r\n20 28 32 37 28,32,37,42\n"
        names = ("INTRA4X4_LUMA", "INTRA4X4_CHROMAU", "INTRA4X4_CHROMAV")
        lists = self.write("lists.cfg", "".join(f"{name} = {rows}" for name in names))
        own = self.high_clip("own.264", "--cqmfile", lists)  # --backend auto takes the CPU for them
        self.assertIn(b"cqm=custom", own)  # the 8x8 list is flat

    def test_bad_scaling_lists(self):
        high = ("--profile", "high")
        for text, said in {"": "no list", "INTRA4X4_LUMA = 1,2\n": "line 1: INTRA4X4_LUMA has only 2 of 16",
                           "\nLUMA = 1": "line 2: \"LUMA\" is no list", "INTRA4X4_LUMA = 0": "is no weight"}.items():
            with self.subTest(text=text):
                self.refuse(2, said, self.input, *high, "--cqmfile", self.write("bad.cfg", text))
        self.refuse(2, "more than 64 KiB", self.input, *high, "--cqmfile", "/dev/zero")
        self.refuse(2, "cannot be read", self.input, *high, "--cqmfile", self.path("none.cfg"))
        self.refuse(1, "give one of them", self.input, *high, "--cqm", "jvt", "--cqmfile", self.path("none.cfg"))
        self.refuse(1, "flat or jvt", self.input, *high, "--cqm", "JVT")
        self.refuse(1, "only the profile high has scaling lists", self.input, "--cqm", "jvt", "--profile", "main")


if __name__ == "__main__":
    main()
