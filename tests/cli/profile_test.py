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


if __name__ == "__main__":
    main()
