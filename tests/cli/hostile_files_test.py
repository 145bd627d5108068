"""Files that name other files, outputs that would keep rights they must not: nothing is read or opened unasked."""
import http.server
import os
import shutil
import stat
import threading

from support import CommandTest, ffmpeg, main, video_stream


class Counting(http.server.SimpleHTTPRequestHandler):
    requests_seen = 0

    def do_GET(self):
        type(self).requests_seen += 1
        super().do_GET()

    def log_message(self, *_):
        pass


class ListsOfOtherFiles(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.secret = cls.clip("secret.ts", "testsrc2=size=96x64:rate=25", 5, "-c:v", "mpeg2video", "-f", "mpegts")
        with open(cls.path("key"), "wb") as file:
            file.write(bytes(range(32)))

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def playlist(self, name, entry):
        return self.write(name, f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:0.2,\n{entry}\n#EXT-X-ENDLIST\n")

    def lists(self):
        """Each names secret.ts, under a name that promises a video."""
        yield self.playlist("film.mp4", self.secret)
        yield self.playlist("beside.mkv", "secret.ts")
        yield self.playlist("list.m3u8", f"file:{self.secret}")
        yield self.write("script.ts", f"ffconcat version 1.0\nfile '{self.secret}'\n")
        yield self.write("session.mov", "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\n"
                                        "m=video 40000 RTP/AVP 96\na=rtpmap:96 H264/90000\n")

    def test_encode_reads_no_list(self):
        for name in self.lists():
            with self.subTest(name=name):
                self.refuse(2, os.path.basename(name) + ".*(list of other files|m3u8)", name)
                with open(name, "rb") as pipe:
                    self.refuse(2, "standard input.*(list of other files|m3u8)", "-", stdin=pipe)

    def test_edges_and_protect_read_no_list(self):
        for name in self.lists():
            with self.subTest(name=name):
                before = set(os.listdir(self.folder))
                done = self.cu264("edges", name, "-o", self.path("edges.pgm"), "--frames", 1, code=2)
                self.assertRegex(done.stderr, "list of other files|m3u8")  # newer FFmpegs refuse HLS themselves
                for verb in (["protect", "encrypt"], ["watermark", "extract"]):
                    done = self.cu264(*verb, name, "-o", self.path("out.ts"), "--key-file", self.path("key"), code=2)
                    self.assertRegex(done.stderr, "list of other files|m3u8")  # newer FFmpegs refuse HLS themselves
                self.assertEqual(set(os.listdir(self.folder)), before)

    def test_lists_are_read_by_name(self):
        playlist = self.playlist("wanted.m3u8", "secret.ts")
        self.encode(playlist, "-o", self.path("wanted.264"), "--demuxer", "hls")
        self.assertEqual(video_stream(self.path("wanted.264"))["nb_read_packets"], "5")
        self.refuse(1, "FFmpeg was built without the demuxer nosuch", playlist, "--demuxer", "nosuch")

    def test_only_one_picture_of_a_name_with_a_number(self):
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-frames:v", "3", self.path("still%03d.jpg"))
        literal = self.path("one%03d.jpg")
        shutil.copy(self.path("still001.jpg"), literal)
        for number in (1, 2, 3):
            shutil.copy(self.path("still002.jpg"), self.path(f"one{number:03d}.jpg"))
        self.encode(literal, "-o", self.path("one.264"))
        self.assertEqual(video_stream(self.path("one.264"))["nb_read_packets"], "1")
        self.encode(self.path("still%03d.jpg"), "-o", self.path("all.264"))
        self.assertEqual(video_stream(self.path("all.264"))["nb_read_packets"], "3")

    def test_protocols(self):
        handler = type("Handler", (Counting,), {})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: handler(*a, directory=self.folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            url = f"http://127.0.0.1:{server.server_address[1]}/secret.ts"
            self.refuse(2, "protocol http.*--allow-protocol", url)
            self.refuse(2, "protocol concat", f"concat:{self.secret}|{self.secret}")
            playlist = self.playlist("remote.m3u8", url)
            self.refuse(2, ".", playlist, "--demuxer", "hls")
            self.assertEqual(handler.requests_seen, 0)
            self.encode(url, "-o", self.path("fetched.264"), "--allow-protocol", "http,tcp")
            self.assertGreater(handler.requests_seen, 0)
        finally:
            server.shutdown()
            server.server_close()


class Rights(CommandTest):
    def test_rights_of_a_replaced_file(self):
        source = self.clip("in.y4m", frames=2)
        target = self.path("out.264")
        for before, after in ((0o4755, 0o755), (0o2751, 0o751), (0o600, 0o600), (0o660, 0o660)):
            with open(target, "wb"):
                pass
            os.chmod(target, before)
            self.encode(source, "-o", target)
            self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), after, oct(before))
            os.remove(target)

    def test_rights_of_a_new_file(self):
        source = self.clip("in.y4m", frames=2)
        for mask, mode in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
            name = self.path(f"new{mask}.264")
            self.encode(source, "-o", name, umask=mask)
            self.assertEqual(stat.S_IMODE(os.stat(name).st_mode), mode)


if __name__ == "__main__":
    main()
