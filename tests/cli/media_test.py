"""Many kinds of media through `cu264 encode`: what ffmpeg keeps is kept, or a note tells what is lost.

Each kind is made by ffmpeg and looked at with ffprobe: the input, cu264's output, and that of
`ffmpeg -c:v libx264 -g 1`. CU264_TEST_ALL=1 takes all kinds instead of a choice of them; CU264_MEDIA_TABLE names a
file for the table of the results.
"""
import os
import re
import subprocess
from fractions import Fraction

from media_kinds import KINDS, make
from support import TIMEOUT, CommandTest, ffprobe, main

EVERY = bool(os.environ.get("CU264_TEST_ALL"))
TABLE = os.environ.get("CU264_MEDIA_TABLE")
SPARE = 4  # without CU264_TEST_ALL, one kind of so many is taken
# Tags that describe a container or a coding, not the media.
OWN_TAGS = {"encoder", "major_brand", "minor_version", "compatible_brands", "creation_time", "duration", "vendor_id",
            "handler_name", "track_name"}
# The note that says each kind of loss; without one here, nothing may be lost. {} stands for the container.
SAID = {
    "video": r"video stream \d+ \(\w+\) dropped: {} cannot hold it",
    "audio": r"audio stream \d+ \(\w+\) dropped: {} cannot hold it",
    "subtitle": r"subtitle stream \d+ \(\w+\) dropped: {} cannot hold it",
    "cover or file": r"(cover picture|attachment stream) \d+ \(\w+\) dropped: {} cannot hold it",
    "chapters": r"\d+ chapters dropped: {} cannot hold them",
    "rotation": r"players are asked to turn the pictures, which {} cannot say; --autorotate turns them",
    "file timecode": r"time code dropped: {} cannot hold it",
    "file": r"tags dropped: (?:.*, )?{tag}(?:, .*)?: {} cannot hold them",
}
COUNTED = ("video", "audio", "subtitle", "cover or file")  # with a note for each that is lost
COLOURS = ("color_range", "color_space", "color_transfer", "color_primaries", "chroma_location")


class Media:
    """Holds what ffprobe tells of a file."""

    def __init__(self, path):
        told = ffprobe(path, "-count_frames", "-show_streams", "-show_format", "-show_chapters", "-show_programs", "-show_packets")
        self.format, self.streams, self.chapters = told["format"], told["streams"], told["chapters"]
        self.video = next(s for s in self.streams if s["codec_type"] == "video" and not s["disposition"]["attached_pic"])
        packets = [p for p in told["packets"] if p["stream_index"] == self.video["index"] and "D" not in p["flags"]]
        self.tick = Fraction(self.video["time_base"])
        self.times = sorted(p["pts"] * self.tick for p in packets if "pts" in p)
        self.frames = len(packets)
        self.start = Fraction(self.format.get("start_time", 0))
        self.duration = Fraction(self.format.get("duration", 0))
        self.packets, self.programs = told["packets"], told["programs"]

    def count(self, kind):
        covers = [s for s in self.streams if s["disposition"]["attached_pic"] or s["codec_type"] == "attachment"]
        if kind == "cover or file":
            return len(covers)
        return len([s for s in self.streams if s["codec_type"] == kind and s not in covers])

    def audio_starts(self):
        """The codec of each audio stream, the time of its first packet, and its tick."""
        for stream in self.streams:
            if stream["codec_type"] == "audio":
                tick = Fraction(stream["time_base"])
                first = min(p["pts"] for p in self.packets if p["stream_index"] == stream["index"] and "pts" in p)
                yield stream["codec_name"], first * tick, tick

    def before_start(self, field):
        """Returns how much earlier than the start the first packet of the streams beside the video is, by "pts" or "dts"."""
        earliest = self.start
        for stream in self.streams:
            tick, packets = Fraction(stream["time_base"]), [p for p in self.packets if p["stream_index"] == stream["index"]]
            is_cover = stream["disposition"]["attached_pic"]
            if stream is self.video or is_cover or stream["codec_type"] not in ("video", "audio"):
                continue
            first = min((p["pts"] * tick for p in packets if "pts" in p), default=earliest)
            if field == "dts" and stream["codec_type"] == "video":  # Matroska does not store it
                first -= stream["has_b_frames"] / Fraction(stream["avg_frame_rate"])
            earliest = min(earliest, first)
        return self.start - earliest

    def tags(self):
        found = {"file " + name.lower() for name in self.format.get("tags", {})}
        for stream in self.streams:
            kind = stream["codec_type"]
            if kind in ("video", "audio", "subtitle") and stream.get("tags", {}).get("language", "und") != "und":
                found.add(f"{kind} language {stream['tags']['language']}")
        if any("timecode" in map(str.lower, stream.get("tags", {})) for stream in self.streams):
            found.add("file timecode")
        if any(program.get("tags", {}).get("service_name", "Service01") != "Service01" for program in self.programs):
            found.add("file title")  # of a transport stream, whose muxer would write Service01
        return {tag for tag in found if tag.split()[-1] not in OWN_TAGS and not tag.startswith("file com.")}

    def rotation(self):
        for data in self.video.get("side_data_list", []):
            if "rotation" in data:
                return int(data["rotation"])
        return 0

    def facts(self):
        """Returns what a player shows, by name."""
        facts = {kind: self.count(kind) for kind in ("video", "audio", "subtitle", "cover or file")}
        facts["chapters"] = len(self.chapters)
        facts["rotation"] = self.rotation()
        facts["captions"] = self.video.get("closed_captions", 0)
        for name in COLOURS:
            facts[name] = self.video.get(name, "unknown")
        facts["shape"] = self.video.get("sample_aspect_ratio", "1:1")
        return facts


def missing(facts, reference, source):
    """The facts of the reference that are less in these facts, or neither so nor as in the source."""
    lost = []
    for name, value in reference.items():
        if isinstance(value, int) and name != "rotation":
            if facts[name] < value:
                lost.append(name)
        elif value not in ("unknown", "unspecified", "N/A", "0:1", 0) and facts[name] not in (value, source[name]):
            lost.append(name)
    return lost


class EveryKind(CommandTest):
    rows = []

    def output(self, name):
        """The path of a file that is not there."""
        path = self.path(name)
        if os.path.exists(path):
            os.remove(path)
        return path

    def reference(self, source, extension):
        """ffmpeg's own output, with its default choice of streams; None if it makes none."""
        out = self.output("reference." + extension)
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", source, "-c:v", "libx264", "-g", "1", "-preset", "ultrafast",
                        "-pix_fmt", "yuv420p", out], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT)
        try:
            return Media(out)
        except (subprocess.CalledProcessError, StopIteration, KeyError):
            return None

    def check(self, kind, extension):
        source = make(kind, self.folder)
        out = self.output("out." + extension)
        done = self.encode(source, "-o", out, "--preset", "fast", "--qp", 40, *kind.options)
        media, ours, theirs = Media(source), Media(out), self.reference(source, extension)
        said = []
        if theirs:
            said = missing(ours.facts(), theirs.facts(), media.facts()) + sorted(theirs.tags() - ours.tags())
        # What the input has and ffmpeg loses too is no less a loss; but colours follow from the conversion to 4:2:0.
        losses = [name for name in missing(ours.facts(), media.facts(), media.facts()) if name not in (*COLOURS, "shape")]
        # mov names languages by a list of its own, from which FFmpeg's muxer takes what it finds.
        losses += [tag for tag in sorted(media.tags() - ours.tags()) if extension != "mov" or " language " not in tag]
        if "--autorotate" in kind.options:
            losses.remove("rotation")
        for name in {*said, *losses}:
            number = media.facts()[name] - ours.facts()[name] if name in COUNTED else 1
            self.check_note(name, number, extension, done.stderr)
        if media.frames > 0 and not kind.times_unlike:
            self.check_times(media, ours, theirs, extension)
        self.rows.append((kind.name, extension, media, theirs, ours, said))

    def check_note(self, name, number, extension, stderr):
        kind, *tag = name.split(" ", 1)
        if tag and tag[0].startswith("language"):
            name = kind  # it is lost with its stream
        sentence = SAID.get(name) or (SAID["file"] if kind == "file" else None)
        self.assertIsNotNone(sentence, f"no note says that {name} is lost\n{stderr}")
        wanted = "cu264: note: " + sentence.format(extension, tag=re.escape(tag[0]) if tag else "")
        found = [line for line in stderr.splitlines() if re.fullmatch(wanted, line, re.IGNORECASE)]
        self.assertEqual(len(found), number, f"{number} x {name} lost: not as often \"{wanted}\" in\n{stderr}")

    def check_times(self, media, ours, theirs, extension):
        self.assertEqual(ours.frames, media.frames)
        if media.times and ours.times and len(media.times) == media.frames:
            apart = max(abs((b - ours.times[0]) - (a - media.times[0])) for a, b in zip(media.times, ours.times))
            self.assertLessEqual(apart, ours.tick, f"times differ by {float(apart)} s")
            self.check_start(media, ours, extension)
        if theirs and theirs.duration and ours.duration:
            slack = Fraction(1, 1000)  # in which ffmpeg's mp4 counts, and Matroska
            if media.count("audio"):
                slack = Fraction(9, 100)  # ffmpeg's audio is coded anew, in frames of its own that begin elsewhere
            self.assertLessEqual(abs(ours.duration - theirs.duration), slack)

    def check_start(self, media, ours, extension):
        """The first picture comes as long after the file's start as in the input, to within a tick of the output."""
        late = ours.times[0] - (media.times[0] - media.start)
        if extension == "ts":
            late -= Fraction(14, 10)  # which a transport stream leaves for its decoder's buffer
        # Both hold nothing before their start, such as the samples with which an AAC decoder warms up. FFmpeg's muxers move all
        # streams by as much, Matroska's by the times of presentation; mp4 and mov have edit lists.
        if extension in ("mkv", "ts"):
            late -= media.before_start("pts" if extension == "mkv" else "dts")
        microsecond = Fraction(1, 10 ** 6)  # in which ffprobe tells the input's start
        self.assertLessEqual(abs(late), ours.tick + microsecond, f"begins {float(late)} s late")
        if media.count("audio") == ours.count("audio"):
            for (codec, before, _), (_, after, tick) in zip(media.audio_starts(), ours.audio_starts()):
                apart = (after - ours.times[0]) - (before - media.times[0])
                # The Matroska muxer of FFmpeg 5.1 writes the delay of an Opus decoder into the header, which readers subtract
                # from the times, and does not add it to the times; libopus has 312 samples of 48 000 a second.
                unsaid = Fraction(312, 48000) if codec == "opus" and extension == "mkv" else 0
                self.assertTrue(-unsaid - ours.tick - tick <= apart <= ours.tick + tick,
                                f"audio begins {float(apart)} s late beside the pictures")

    def test_kinds(self):
        for number, kind in enumerate(KINDS):
            if not EVERY and number % SPARE:
                continue
            for extension in kind.outputs:
                with self.subTest(kind=kind.name, output=extension):
                    self.check(kind, extension)
        if TABLE:
            self.write_table()

    def write_table(self):
        def text(media):
            if media is None:
                return "none"
            facts = media.facts()
            parts = [f"{facts[k]}{k[0]}" for k in ("video", "audio", "subtitle") if facts[k]]
            parts += [f"{facts['cover or file']}f"] if facts["cover or file"] else []
            parts += [f"{facts['chapters']}ch"] if facts["chapters"] else []
            parts += [f"{facts['rotation']}°"] if facts["rotation"] else []
            return f"{' '.join(parts)}, {media.frames} at {float(media.start):.3f} for {float(media.duration):.3f}"

        with open(TABLE, "w") as file:
            file.write("| kind | to | input | ffmpeg | cu264 | said to be lost |\n|---|---|---|---|---|---|\n")
            for name, extension, media, theirs, ours, said in self.rows:
                file.write(f"| {name} | {extension} | {text(media)} | {text(theirs)} | {text(ours)} | {', '.join(said)} |\n")


if __name__ == "__main__":
    main()
