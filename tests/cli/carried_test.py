"""The table of docs/media.md, cell by cell: what each container keeps, beside what ffmpeg keeps.

CU264_TEST_ALL=1 takes all cells instead of one of each row.
"""
import itertools
import os
import subprocess

from media_kinds import AVC, CAPTIONED, SINE, TESTSRC, Kind, make, rotated, QUARTER
from support import TIMEOUT, CommandTest, ffprobe, main

EVERY = bool(os.environ.get("CU264_TEST_ALL"))
TABLE = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "media.md")


def audio(codec, file, *options):
    return Kind(codec, file, [*AVC, "-c:a", codec, *options, "-shortest"], TESTSRC + SINE)


def words(codec, file):
    return Kind(codec, file, [*AVC, "-c:s", codec], TESTSRC + ["-i", "SRT"])


COVER = Kind("cover", "cover.mp4", ["-map", "0", "-map", "1", *AVC, "-c:v:1", "copy", "-disposition:v:1", "attached_pic"],
             TESTSRC + ["-i", "COVER"])
FONT = Kind("font", "font.mkv", ["-attach", "FONT", "-metadata:s:t", "mimetype=font/ttf", *AVC])
CHAPTERS = Kind("chapters", "chapters.mkv", ["-map_metadata", "1", *AVC], TESTSRC + ["-i", "META"])
TAGS = Kind("tags", "tags.mkv", [*AVC, "-metadata", "title=T", "-metadata", "artist=A", "-metadata", "mood=M"])
LANGUAGE = Kind("language", "language.mkv", [*AVC, "-c:a", "aac", "-metadata:s:a", "language=ger", "-shortest"], TESTSRC + SINE)


def streams(told, kind):
    covers = [s for s in told["streams"] if s["disposition"]["attached_pic"]]
    return [s["codec_name"] for s in told["streams"] if s["codec_type"] == kind and s not in covers]


def first_video(told):
    return next(s for s in told["streams"] if s["codec_type"] == "video" and not s["disposition"]["attached_pic"])


def has_codec(kind, codec):
    return lambda told: streams(told, kind) == [codec]


def has_tag(name):
    def found(told):
        tags = {key.lower(): value for key, value in told["format"].get("tags", {}).items()}
        service = [p.get("tags", {}).get("service_name") for p in told["programs"]]
        return name in tags or (name == "title" and "T" in service)
    return found


def is_video(**fields):
    return lambda told: all(first_video(told).get(name) == value for name, value in fields.items())


def has_stereo(told):
    return any(data["side_data_type"] == "Stereo 3D" for data in first_video(told).get("side_data_list", []))


def has_rotation(told):
    return any("rotation" in data for data in first_video(told).get("side_data_list", []))


def has_time_code(told):
    tags = [told["format"].get("tags", {})] + [s.get("tags", {}) for s in told["streams"]]
    return any(key.lower() == "timecode" and value == "01:02:03:04" for tag in tags for key, value in tag.items())


def has_german(told):
    return any(s.get("tags", {}).get("language") == "ger" for s in told["streams"])


def has_cover(told):
    attached = [s for s in told["streams"] if s["disposition"]["attached_pic"]]
    return bool(attached)


def has_varying_times(told):
    times = sorted(float(p["pts_time"]) for p in told["packets"] if "pts_time" in p)
    return len({round(b - a, 2) for a, b in zip(times, times[1:])}) > 1


# Each row names its inputs, and tells for each whether a file has it.
ROWS = {
    "AAC, MP3, AC-3 audio": [(audio("aac", "aac.mkv"), has_codec("audio", "aac")),
                             (audio("libmp3lame", "mp3.mkv"), has_codec("audio", "mp3")),
                             (audio("ac3", "ac3.mkv"), has_codec("audio", "ac3"))],
    "Opus audio": [(audio("libopus", "opus.mkv"), has_codec("audio", "opus"))],
    "FLAC audio": [(audio("flac", "flac.mkv"), has_codec("audio", "flac"))],
    "TrueHD audio": [(audio("truehd", "truehd.mkv", "-strict", "-2"), has_codec("audio", "truehd"))],
    "Vorbis audio": [(audio("libvorbis", "vorbis.mkv"), has_codec("audio", "vorbis"))],
    "PCM audio": [(audio("pcm_s16le", "pcm.mkv"), has_codec("audio", "pcm_s16le"))],
    "SubRip subtitles": [(words("srt", "srt.mkv"), has_codec("subtitle", "subrip"))],
    "ASS subtitles": [(words("ass", "ass.mkv"), has_codec("subtitle", "ass"))],
    "mov_text subtitles": [(words("mov_text", "text.mp4"), has_codec("subtitle", "mov_text"))],
    "closed captions": [(CAPTIONED, is_video(closed_captions=1))],
    "second video": [(Kind("second", "second.mkv", ["-map", "0", "-map", "0", *AVC]),
                      lambda told: len(streams(told, "video")) == 2)],
    "cover picture": [(COVER, has_cover)],
    "attached font": [(FONT, lambda told: "attachment" in [s["codec_type"] for s in told["streams"]])],
    "chapters": [(CHAPTERS, lambda told: [c["tags"]["title"] for c in told["chapters"]] == ["One", "Two"])],
    "title": [(TAGS, has_tag("title"))],
    "artist": [(TAGS, has_tag("artist"))],
    "any other tag": [(TAGS, has_tag("mood"))],
    "language of a track": [(LANGUAGE, has_german)],
    "time code": [(Kind("timecode", "timecode.mov", [*AVC, "-timecode", "01:02:03:04"]), has_time_code)],
    "stereoscopic layout": [(Kind("stereo", "stereo.mkv", [*AVC, "-metadata:s:v", "stereo_mode=left_right"]), has_stereo)],
    "rotation": [(Kind("rotation", "rotation.mp4", AVC, after=rotated(QUARTER)), has_rotation)],
    "shape of the samples": [(Kind("sar", "sar.mp4", [*AVC, "-vf", "setsar=16/11"]), is_video(sample_aspect_ratio="16:11"))],
    "colour tags": [(Kind("colours", "colours.mkv", ["-vf", "setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709",
                                                     *AVC]),
                     is_video(color_space="bt709", color_primaries="bt709", color_transfer="bt709"))],
    "place of chroma samples": [(Kind("chroma", "chroma.mkv", [*AVC, "-bsf:v", "h264_metadata=chroma_sample_loc_type=1"]),
                                 is_video(chroma_location="center"))],
    "times of the pictures": [(Kind("vfr", "vfr.mkv", ["-vf", "setpts='(N+floor(N/3))*0.04/TB'", *AVC, "-vsync", "vfr",
                                                       "-enc_time_base", "1/1000"]), has_varying_times)],
}
CONVERTED = {"mp4": "mov_text", "mov": "mov_text", "mkv": "subrip"}


def look(path):
    return ffprobe(path, "-show_streams", "-show_format", "-show_chapters", "-show_programs", "-show_packets",
                   "-select_streams", "v:0") | {
        "streams": ffprobe(path, "-show_streams", "-count_frames")["streams"]}


class Table(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cells = {}
        with open(TABLE) as file:
            lines = [line.strip("|\n ").split(" | ") for line in file if line.startswith("| ")]
        cls.containers = lines[0][1:]
        for row, *cells in lines[1:]:
            cls.cells[row] = dict(zip(cls.containers, cells))

    def ffmpeg_keeps(self, source, extension, has):
        out = self.path("theirs." + extension)
        done = subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", source, "-map", "0", "-c", "copy", "-c:v:0", "libx264",
                               "-preset", "ultrafast", "-g", "1", out], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=TIMEOUT)
        try:
            return done.returncode == 0 and has(look(out))
        except (subprocess.CalledProcessError, KeyError, StopIteration):
            return False

    def outcome(self, source, extension, has):
        """Returns what becomes of the thing, as the table says it."""
        out = self.path("ours." + extension)
        if os.path.exists(out):
            os.remove(out)
        done = self.encode(source, "-o", out, "--preset", "fast", "--qp", 45)
        told = look(out)
        if has(told):
            return ("experimental" if "experimental" in done.stderr else "kept"), done.stderr
        if streams(told, "subtitle") == [CONVERTED.get(extension)]:
            return "converted", done.stderr
        return "dropped", done.stderr

    def test_cells(self):
        self.assertEqual(set(self.cells), set(ROWS))
        turns = itertools.cycle(self.containers)
        for row, things in ROWS.items():
            for kind, has in things:
                source = make(kind, self.folder)
                self.assertTrue(has(look(source)), f"{kind.file} does not have it")
                for extension in self.containers if EVERY else [next(turns)]:
                    with self.subTest(row=row, kind=kind.name, container=extension):
                        found, said = self.outcome(source, extension, has)
                        self.assertEqual(found, self.cells[row][extension], said)
                        if found != "kept":
                            self.assertRegex(said, "note: .*(dropped|converted|experimental|turn|varies)")
                        if found == "dropped" and self.ffmpeg_keeps(source, extension, has):
                            self.fail(f"ffmpeg keeps it\n{said}")


if __name__ == "__main__":
    main()
