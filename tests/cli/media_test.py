"""Many kinds of media through `cu264 encode`: what ffmpeg keeps is kept, or a note tells what is lost.

Each kind is made by ffmpeg and looked at with ffprobe: the input, cu264's output, and that of
`ffmpeg -c:v libx264 -g 1`. CU264_TEST_ALL=1 takes all kinds instead of a choice of them; CU264_MEDIA_TABLE names a
file for the table of the results.
"""
import os
import subprocess

from media_kinds import KINDS, make
from support import TIMEOUT, CommandTest, ffprobe, main

EVERY = bool(os.environ.get("CU264_TEST_ALL"))
TABLE = os.environ.get("CU264_MEDIA_TABLE")
SPARE = 4  # without CU264_TEST_ALL, one kind of so many is taken
# Tags that describe a container or a coding, not the media.
OWN_TAGS = {"encoder", "major_brand", "minor_version", "compatible_brands", "creation_time", "duration", "vendor_id",
            "handler_name", "track_name"}
COLOURS = ("color_range", "color_space", "color_transfer", "color_primaries", "chroma_location")


class Media:
    """What ffprobe tells of a file."""

    def __init__(self, path):
        told = ffprobe(path, "-show_streams", "-show_format", "-show_chapters", "-show_packets")
        self.format, self.streams, self.chapters = told["format"], told["streams"], told["chapters"]
        self.video = next(s for s in self.streams if s["codec_type"] == "video" and not s["disposition"]["attached_pic"])
        packets = [p for p in told["packets"] if p["stream_index"] == self.video["index"] and "D" not in p["flags"]]
        self.tick = float(1 / (lambda n, d: int(d) / int(n))(*self.video["time_base"].split("/")))
        self.times = sorted(float(p["pts_time"]) for p in packets if "pts_time" in p)
        self.frames = len(packets)
        self.start = float(self.format.get("start_time", 0))
        self.duration = float(self.format.get("duration", 0))

    def count(self, kind):
        covers = [s for s in self.streams if s["disposition"]["attached_pic"] or s["codec_type"] == "attachment"]
        if kind == "cover or file":
            return len(covers)
        return len([s for s in self.streams if s["codec_type"] == kind and s not in covers])

    def tags(self):
        found = {"file " + name.lower() for name in self.format.get("tags", {})}
        for stream in self.streams:
            kind = stream["codec_type"]
            if kind in ("video", "audio", "subtitle") and stream.get("tags", {}).get("language", "und") != "und":
                found.add(f"{kind} language {stream['tags']['language']}")
        return {tag for tag in found if tag.split()[-1] not in OWN_TAGS and not tag.startswith("file com.")}

    def rotation(self):
        for data in self.video.get("side_data_list", []):
            if "rotation" in data:
                return int(data["rotation"])
        return 0

    def facts(self):
        """What a player shows, by name."""
        facts = {kind: self.count(kind) for kind in ("video", "audio", "subtitle", "cover or file")}
        facts["chapters"] = len(self.chapters)
        facts["rotation"] = self.rotation()
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
        notes = done.stderr.lower()
        media, ours, theirs = Media(source), Media(out), self.reference(source, extension)
        said = []
        if theirs:
            for name in missing(ours.facts(), theirs.facts(), media.facts()) + sorted(theirs.tags() - ours.tags()):
                words = {"rotation": "turn", "cover or file": "dropped"}.get(name, name.split()[-1])
                self.assertIn(words, notes, f"ffmpeg keeps {name}, cu264 says nothing\n{done.stderr}")
                said.append(name)
        if media.frames > 0 and not kind.times_unlike:
            self.check_times(media, ours, theirs, extension)
        self.rows.append((kind.name, extension, media, theirs, ours, said))

    def check_times(self, media, ours, theirs, extension):
        self.assertEqual(ours.frames, media.frames)
        tick = max(media.tick, ours.tick)
        if media.times and ours.times and len(media.times) == media.frames:
            apart = [abs((b - ours.times[0]) - (a - media.times[0])) for a, b in zip(media.times, ours.times)]
            self.assertLessEqual(max(apart), tick * 1.01, f"times differ by {max(apart)} s, a tick is {tick} s")
            delay = 1.4 if extension == "ts" else 0  # a transport stream leaves room for its decoder's buffer
            # The audio encoder's delay before the beginning cannot be cut off everywhere; mp4 counts its edits in ms.
            # A second video is decoded before the first picture is shown.
            slack = 0.08 if media.count("video") > 1 else 1024 / 48000 if media.count("audio") else tick
            start = (ours.times[0] - delay) - (media.times[0] - media.start)
            self.assertLessEqual(abs(start), max(slack, 0.001) * 1.01, f"begins {start} s late")
        if theirs and theirs.duration and ours.duration:
            slack = 0.05 + 1 / 25  # a frame of audio that starts earlier, a last picture whose length nobody told
            self.assertLessEqual(abs(ours.duration - theirs.duration), slack)

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
            return f"{' '.join(parts)}, {media.frames} at {media.start:.3f} for {media.duration:.3f}"

        with open(TABLE, "w") as file:
            file.write("| kind | to | input | ffmpeg | cu264 | said to be lost |\n|---|---|---|---|---|---|\n")
            for name, extension, media, theirs, ours, said in self.rows:
                file.write(f"| {name} | {extension} | {text(media)} | {text(theirs)} | {text(ours)} | {', '.join(said)} |\n")


if __name__ == "__main__":
    main()
