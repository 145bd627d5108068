"""--profile in every container, what an automatic one becomes, and what the tools for CAVLC say of CABAC streams."""
import json
import os

from support import CommandTest, decoded_md5, ffmpeg, main, video_stream


class Profile(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.input = cls.clip("in.y4m", frames=4)

    def coded(self, profile, name, *options):
        self.stderr = self.encode(self.input, "-o", self.path(name), "--profile", profile, "--backend", "cpu", *options).stderr
        return self.path(name)

    def main_clip(self, name, *options):
        return self.coded("main", name, *options)

    def settings(self, profile, *options):
        """What --stats says of an encode."""
        self.coded(profile, "stats.mp4", "--stats", self.path("stats.json"), *options)
        with open(self.path("stats.json"), encoding="utf-8") as file:
            settings = json.load(file)["settings"]
        return settings["profile"], settings["cabac"], settings["profile_reason"]

    def test_containers_say_the_profile_and_decode_to_the_reconstruction(self):
        names = {"baseline": "Constrained Baseline", "main": "Main", "high": "High", "auto": "High"}
        for profile, name in names.items():
            for container in ("a.mp4", "a.mkv", "a.mov", "a.ts", "a.264"):
                with self.subTest(profile=profile, container=container):
                    path = self.coded(profile, container, "--recon", self.path("recon.yuv"), "--slices", "2", "--verify")
                    self.assertEqual(video_stream(path)["profile"], name)
                    raw = ("-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "96x64")
                    self.assertEqual(decoded_md5(path), decoded_md5(self.path("recon.yuv"), *raw))

    def test_other_programs_copy_high_into_other_containers(self):
        source = self.coded("high", "high.mp4")
        expected = decoded_md5(source)
        for name in ("copy.flv", "copy.avi", "copy.mkv", "copy.ts"):
            ffmpeg("-i", source, "-c", "copy", self.path(name))
            self.assertEqual(decoded_md5(self.path(name)), expected, name)

    def test_what_is_said_of_the_profile(self):
        self.assertEqual(self.settings("main"), ("main", True, "asked for"))
        self.assertEqual(self.settings("high", "--cavlc"), ("high", False, "asked for"))
        self.assertEqual(self.settings("automatic"), ("high", True, "nothing needs CAVLC"))
        self.assertEqual(self.settings("auto", "--cavlc"), ("high", False, "CAVLC was asked for"))
        self.assertNotIn("profile", self.stderr)
        self.coded("auto", "verbose.264", "--verbose")
        self.assertIn("cu264: profile: high with CABAC (nothing needs CAVLC)\n", self.stderr)

    def test_an_automatic_profile_has_cavlc_where_it_is_needed(self):
        key = self.path("auto.key")
        self.cu264("protect", "new-key", key)
        with open(self.path("payload"), "wb") as file:
            file.write(b"mark")
        mark = ("--watermark", "t1-sign", "--payload", self.path("payload"), "--density", "65536", "--key-file", key)
        seal = ("--encrypt", "signs", "--key-file", key)
        for what, options in (("a watermark", mark), ("encryption", seal), ("encryption", (*seal, "--authenticate"))):
            with self.subTest(options=options):
                self.assertEqual(self.settings("auto", *options), ("high", False, f"{what} needs CAVLC"))
                note = f"cu264: note: the profile is high with CAVLC ({what} needs CAVLC)"
                self.assertEqual([line for line in self.stderr.splitlines() if "profile" in line], [note])
        marked = self.coded("auto", "marked.264", *mark, "--slices", "2")
        self.assertEqual(video_stream(marked)["profile"], "High")
        self.cu264("watermark", "extract", marked, self.path("read"), "--key-file", key)
        with open(self.path("read"), "rb") as file:
            self.assertEqual(file.read(), b"mark")
        sealed = self.coded("auto", "sealed.mp4", *seal, "--authenticate")
        self.cu264("protect", "decrypt", sealed, self.path("opened.mp4"), "--key-file", key, "--require-authentication")
        self.assertEqual(decoded_md5(self.path("opened.mp4")), decoded_md5(self.coded("high", "plain.mp4", "--cavlc")))

    def test_cavlc_in_main(self):
        path = self.main_clip("cavlc.264", "--cavlc")
        self.assertEqual(video_stream(path)["profile"], "Main")
        self.cu264("protect", "new-key", self.path("key"))
        self.cu264("protect", "encrypt", path, "-o", self.path("sealed.264"), "--key-file", self.path("key"))

    def test_cabac_refuses_what_works_on_cavlc(self):
        self.cu264("protect", "new-key", self.path("key2"))
        key = ("--key-file", self.path("key2"))
        for profile in ("main", "high"):
            self.refuse(1, "CAVLC.*or cavlc; protect encrypt takes", self.input, "--profile", profile, "--encrypt", "signs", *key)
            for name in (f"{profile}.264", f"{profile}.mp4", f"{profile}.ts"):
                coded, output = self.coded(profile, name), self.path("no-" + name)
                for verb in (["protect", "encrypt", coded, output, "--parts", "modes"],
                             ["protect", "encrypt", coded, output, "--strength", "3", "--authenticate"],
                             ["watermark", "embed", coded, output, "--payload", self.path("key2")],
                             ["watermark", "extract", coded, output], ["watermark", "capacity", coded],
                             ["hide", "put", coded, output, "--payload", self.path("key2")], ["hide", "get", coded, output]):
                    with self.subTest(verb=verb):
                        refused = self.cu264(*verb, *(() if verb[1] == "capacity" else key), code=2).stderr
                        self.assertRegex(refused, "the stream has CABAC entropy coding .*need CAVLC")
                        self.assertEqual(len(refused.splitlines()), 1, refused)
                        self.assertFalse(os.path.exists(output))
                refused = self.cu264("protect", "decrypt", coded, output, *key, code=2).stderr
                self.assertRegex(refused, "not encrypted")
                self.assertFalse(os.path.exists(output))

    def test_the_tools_work_on_high_with_cavlc(self):
        key = ("--key-file", self.path("key3"))
        self.cu264("protect", "new-key", self.path("key3"))
        with open(self.path("note"), "wb") as file:
            file.write(b"note")
        source = self.path("source.264")
        self.encode(self.clip("large.y4m", "testsrc2=size=320x240:rate=25", 4), source, "--profile", "high", "--cavlc", "--qp",
                    "20", "--backend", "cpu")
        pictures = decoded_md5(source)
        self.cu264("protect", "encrypt", source, self.path("sealed2.264"), "--parts", "signs,modes,codewords", *key)
        self.assertNotEqual(decoded_md5(self.path("sealed2.264")), pictures)
        self.cu264("protect", "decrypt", self.path("sealed2.264"), self.path("opened2.264"), *key)
        with open(source, "rb") as one, open(self.path("opened2.264"), "rb") as other:
            self.assertEqual(one.read(), other.read())
        for put, get in ((["watermark", "embed"], ["watermark", "extract"]), (["hide", "put"], ["hide", "get"])):
            with self.subTest(put=put):
                self.cu264(*put, source, self.path("full.264"), "--payload", self.path("note"), *key)
                self.cu264(*get, self.path("full.264"), self.path("got"), *key)
                with open(self.path("got"), "rb") as file:
                    self.assertEqual(file.read(), b"note")

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
        own = self.high_clip("own.264", "--cqmfile", lists)
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
