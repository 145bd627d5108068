"""What stands beside the pictures in other places than usual, and inputs that ffmpeg takes, are taken too."""
import os
import struct

from media_kinds import AVC, SINE, TESTSRC
from support import CommandTest, ffmpeg, ffprobe, main, packet_times, video_stream

X265 = ["-c:v", "libx265", "-preset", "ultrafast", "-pix_fmt", "yuv420p10le", "-color_primaries", "bt2020", "-color_trc", "smpte2084",
        "-colorspace", "bt2020nc", "-x265-params", "log-level=none:hdr10=1:max-cll=1000,400:master-display="
        "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)"]
# mastering_display_colour_volume() and content_light_level_info() of that, with emulation prevention
SEI = bytes.fromhex("06891833c286c41d4c0bb884d03e803d1340420098968000000300 0180"), bytes.fromhex("06900403e8019080")


def side_data(path):
    return {one["side_data_type"]: one for one in video_stream(path).get("side_data_list", [])}


class Facts(CommandTest):
    def made(self, source, name, *options):
        done = self.encode(source, "-o", self.path(name), "--preset", "fast", "--qp", 40, *options)
        return self.path(name), done.stderr

    def test_light_that_stands_in_the_stream(self):
        for extension in ("mkv", "mp4", "ts", "hevc"):
            source = self.path("hdr." + extension)
            ffmpeg(*TESTSRC, "-frames:v", 3, *X265, source)
            for output in ("mp4", "mov", "mkv", "ts", "264"):
                with self.subTest(source=extension, output=output):
                    out, _ = self.made(source, "light." + output)
                    with open(out, "rb") as file:
                        data = file.read()
                    for message in SEI:
                        body = message[3:] if output == "ts" else message[:-1]
                        self.assertIn(body[:14], data)
                    if output in ("mp4", "mov", "mkv"):
                        self.assertEqual(side_data(out)["Content light level metadata"]["max_content"], 1000)
                        self.assertIn("Mastering display metadata", side_data(out))

    def test_stereo(self):
        source = self.path("stereo.mkv")
        ffmpeg(*TESTSRC, "-frames:v", 3, *AVC, "-metadata:s:v", "stereo_mode=left_right", source)
        for output, kept in (("mp4", True), ("mkv", True), ("mov", False), ("ts", False), ("264", False)):
            out, said = self.made(source, "stereo_out." + output)
            self.assertEqual("Stereo 3D" in side_data(out), kept, output)
            self.assertEqual("stereoscopic layout dropped" in said, not kept, said)

    def test_sphere(self):
        def box(name, content):
            return struct.pack(">I4s", 8 + len(content), name) + content
        source = self.path("flat.mp4")
        ffmpeg(*TESTSRC, "-frames:v", 3, *AVC, source)
        with open(source, "rb") as file:
            data = file.read()
        sphere = box(b"sv3d", box(b"svhd", bytes(4) + b"x\0") + box(b"proj", box(b"prhd", bytes(16)) + box(b"equi", bytes(20))))
        inside = data.index(b"avcC") - 4  # the index is at the end, so that no place in the file moves
        for name in (b"moov", b"trak", b"mdia", b"minf", b"stbl", b"stsd", b"avc1"):
            at = data.index(name, data.index(b"moov")) - 4
            size = struct.unpack(">I", data[at:at + 4])[0] + len(sphere)
            data = data[:at] + struct.pack(">I", size) + data[at + 4:]
        with open(self.path("sphere.mp4"), "wb") as file:
            file.write(data[:inside] + sphere + data[inside:])
        for output, kept in (("mp4", True), ("mkv", True), ("mov", False), ("ts", False), ("264", False)):
            out, said = self.made(self.path("sphere.mp4"), "sphere_out." + output)
            self.assertEqual("Spherical Mapping" in side_data(out), kept, output)
            self.assertEqual("spherical projection dropped" in said, not kept, said)

    def test_alpha_of_webm(self):
        for codec in ("libvpx", "libvpx-vp9"):
            for alpha in (True, False):
                source = self.path("alpha.webm")
                ffmpeg(*TESTSRC, "-frames:v", 3, "-c:v", codec, "-deadline", "realtime", "-auto-alt-ref", 0, "-pix_fmt",
                       "yuva420p" if alpha else "yuv420p", source)
                self.assertEqual("alpha dropped" in self.made(source, "alpha.mp4")[1], alpha)

    def test_time_codes(self):
        drop, steady = self.path("drop.mov"), self.path("steady.mov")
        for path, rate, code in ((drop, "30000/1001", "01:00:59;20"), (steady, "25", "10:00:00:10")):
            ffmpeg("-f", "lavfi", "-i", f"testsrc2=size=64x48:rate={rate}:duration=2", *AVC, "-timecode", code, path)
        for source, options, wanted in ((drop, [], "01:00:59;20"), (drop, ["--vf", "fps=25"], "01:00:59:16"),
                                        (drop, ["--vf", "fps=60000/1001"], "01:00:59;40"), (drop, ["--vf", "fps=30"], "01:00:59:20"),
                                        (drop, ["--seek", "1"], "01:01:00;22"), (steady, ["--seek", "1"], "10:00:01:10"),
                                        (steady, ["--vf", "fps=50", "--seek", "0.4"], "10:00:00:40"),
                                        (steady, ["--vf", "fps=30000/1001"], "10:00:00;12")):
            for output in ("mp4", "mov", "mkv"):
                out, _ = self.made(source, "code." + output, *options)
                told = ffprobe(out, "-show_format", "-show_streams")
                tags = {k.lower(): v for s in [told["format"], *told["streams"]] for k, v in s.get("tags", {}).items()}
                self.assertEqual(tags.get("timecode"), wanted, f"{options} {output}")


class Taken(CommandTest):
    def made(self, source, name, *options):
        done = self.encode(source, "-o", self.path(name), "--preset", "fast", *options)
        return self.path(name), done.stderr

    def test_long_pauses(self):
        for seconds in (2400, 20000):
            source = self.path("pause.nut")
            ffmpeg(*TESTSRC, "-frames:v", 6, "-vf", f"settb=1/1000000,setpts=if(lt(N\\,3)\\,N*40000\\,N*40000+{seconds}*1000000)",
                   "-vsync", "passthrough", "-enc_time_base", "1/1000000", "-c:v", "ffv1", source)
            for output in ("mp4", "mov", "mkv"):
                out, _ = self.made(source, "pause." + output)
                for ours, given in zip(packet_times(out), packet_times(source)):
                    self.assertAlmostEqual(ours, given, delta=0.001)

    def test_audio_that_mov_does_not_hold(self):
        for codec, kept in (("adpcm_ima_wav", False), ("adpcm_ms", False), ("wmav2", False), ("wmav1", False), ("adpcm_swf", False),
                            ("pcm_s16le", True), ("alac", True), ("aac", True), ("ac3", True)):
            with self.subTest(codec=codec):
                source = self.path(codec + ".mkv")
                ffmpeg(*TESTSRC, *SINE, *AVC, "-c:a", codec, "-ar", "44100", source)
                out, said = self.made(source, "audio.mov")
                found = [s for s in ffprobe(out, "-show_streams", "-count_packets")["streams"] if s["codec_type"] == "audio"]
                self.assertEqual((len(found), "dropped: mov cannot hold it" in said), (kept, not kept), said)
                if kept:
                    ffmpeg("-xerror", "-i", out, "-map", "0:a", "-f", "null", "-")

    def test_audio_with_only_a_cover(self):
        cover = self.path("cover.png")
        ffmpeg("-f", "lavfi", "-i", "testsrc2=size=32x32", "-frames:v", 1, cover)
        for codec, name in (("libmp3lame", "song.mp3"), ("aac", "song.m4a"), ("flac", "song.flac")):
            ffmpeg(*SINE, "-i", cover, "-map", 0, "-map", 1, "-c:v", "copy", "-disposition:v", "attached_pic", "-c:a", codec,
                   self.path(name))
            for output in ("mp4", "mkv"):
                out, _ = self.made(self.path(name), "song." + output)
                video = video_stream(out)
                self.assertEqual((video["codec_name"], video["disposition"]["attached_pic"], video["nb_read_packets"]), ("h264", 0, "1"))

    def test_bitrates_of_slow_videos(self):
        for rate in ("1", "1/2", "1/10", "1/60", "24/25"):
            slow = self.path("slow.y4m")
            ffmpeg("-f", "lavfi", "-i", f"testsrc2=size=64x48:rate={rate}", "-frames:v", 3, "-pix_fmt", "yuv420p", slow)
            self.made(slow, "slow.mp4", "--bitrate", 30)

    def test_pictures_that_only_their_names_tell(self):
        for extension in ("tga", "pam", "xbm", "sgi", "pcx"):
            picture = self.path("one." + extension)
            try:
                ffmpeg("-f", "lavfi", "-i", "testsrc2=size=64x48", "-frames:v", 1, picture)
            except Exception:  # this FFmpeg does not write it
                continue
            out, _ = self.made(picture, "one.mp4")
            self.assertEqual(video_stream(out)["width"], 64)
        with open(self.path("junk.tga"), "wb") as file:
            file.write(bytes(range(256)) * 3)
        self.refuse(2, "junk.tga", self.path("junk.tga"))

    def test_subtitles_without_duration(self):
        source = self.path("dvd.mkv")
        write_dvd_subtitles(self.path("dvd"))
        ffmpeg(*TESTSRC, "-i", self.path("dvd.idx"), "-map", 0, "-map", 1, *AVC, "-c:s", "copy", source)
        for output in ("mp4", "mkv"):
            out, said = self.made(source, "dvd_out." + output)
            self.assertEqual(video_stream(out)["nb_read_packets"], "25")
            packets = ffprobe(out, "-show_packets", "-select_streams", "s")["packets"]
            given = ffprobe(source, "-show_packets", "-select_streams", "s")["packets"]
            self.assertEqual(len(given), 2)
            kept = [(p["pts_time"], p["size"]) for p in packets if int(p["size"]) > 10]
            if output == "mp4" and "duration" not in given[0]:  # as FFmpeg reads them
                self.assertEqual(kept, [])
                self.assertIn("2 subtitles dropped, which do not say how long they are shown", said)
            else:
                self.assertEqual(kept, [(p["pts_time"], p["size"]) for p in given])
                self.assertNotIn("dropped", said)

    def test_sound_whose_length_the_container_does_not_tell(self):
        source = self.path("tta.mkv")
        ffmpeg(*TESTSRC, *SINE, "-map", 0, "-map", 1, *AVC, "-c:a", "tta", source)
        for output in ("mkv", "mp4"):
            out, said = self.made(source, "tta_out." + output)
            self.assertIn({"mkv": "may lose its last second", "mp4": "(tta) dropped"}[output], said)
            packets = [ffprobe(name, "-show_packets", "-select_streams", "a", "-show_data_hash", "md5")["packets"] for name in (source, out)]
            if output == "mkv":
                self.assertEqual(*([p["data_hash"] for p in some] for some in packets))


def write_dvd_subtitles(path):
    """Two subtitles of a DVD, 8x2 dots each, as VobSub has them."""
    dots = bytes([0, 1, 0, 1])  # two lines of one colour to their end
    control = struct.pack(">HH", 0, 4 + len(dots)) + bytes([3, 0x32, 0x10, 4, 0xff, 0xff, 5, 0, 0, 7, 0, 0, 1, 6])
    control += struct.pack(">HH", 4, 6) + bytes([1, 0xff])
    content = bytes([0x20]) + struct.pack(">HH", 4 + len(dots) + len(control), 4 + len(dots)) + dots + control
    index = "# VobSub index file, v7 (do not modify this line!)\nsize: 64x48\npalette: " + ", ".join(["000000", "ffffff"] * 8)
    index += "\nid: en, index: 0\n"
    with open(path + ".sub", "wb") as file:
        for seconds in (0.2, 0.6):
            ticks = int(seconds * 90000)
            time = bytes([0x21 | ticks >> 29 & 0xe, ticks >> 22 & 0xff, 1 | ticks >> 14 & 0xfe, ticks >> 7 & 0xff, 1 | ticks << 1 & 0xfe])
            pack = b"\0\0\1\xba" + bytes([0x44, 0, 4, 0, 4, 1, 1, 0x89, 0xc3, 0xf8])
            pack += b"\0\0\1\xbd" + struct.pack(">H", 8 + len(content)) + bytes([0x81, 0x80, 5]) + time + content
            index += f"timestamp: 00:00:00:{round(seconds * 1000):03d}, filepos: {file.tell():09x}\n"
            padding = 2048 - len(pack) - 6
            file.write(pack + b"\0\0\1\xbe" + struct.pack(">H", padding) + b"\xff" * padding)
    with open(path + ".idx", "w") as file:
        file.write(index)


if __name__ == "__main__":
    main()
