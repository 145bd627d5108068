"""The kinds of media that media_test.py puts through the command, each as arguments that let ffmpeg make it."""
import os
import struct
from dataclasses import dataclass, field

from made_captions import captioned
from support import ffmpeg

SECONDS = 1
TESTSRC = ["-f", "lavfi", "-i", f"testsrc2=size=64x48:rate=25:duration={SECONDS}"]
SINE = ["-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=48000:duration={SECONDS}"]
AVC = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "10", "-bf", "2", "-pix_fmt", "yuv420p"]
SRT = "1\n00:00:00,200 --> 00:00:00,500\nHello\n\n2\n00:00:00,600 --> 00:00:00,900\nWorld\n"
CHAPTERS = (";FFMETADATA1\ntitle=A title\nartist=An artist\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=One\n"
            "[CHAPTER]\nTIMEBASE=1/1000\nSTART=500\nEND=1000\ntitle=Two\n")


@dataclass
class Kind:
    name: str
    file: str                    # the input's name
    arguments: list              # of ffmpeg, after its inputs
    inputs: list = field(default_factory=lambda: TESTSRC)
    outputs: tuple = ("mp4",)
    options: tuple = ()          # of cu264
    times_unlike: bool = False   # times cannot be compared with those of the packets
    after: object = None         # changes the file that was made


def helper(folder, name, content):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    return path


def make(kind, folder):
    path = os.path.join(folder, kind.file)
    if not os.path.exists(path):
        files = {"SRT": ("words.srt", SRT), "META": ("meta.txt", CHAPTERS), "FONT": ("font.ttf", bytes(range(256)))}
        made = {key: helper(folder, *value) for key, value in files.items()}
        if "COVER" in kind.inputs:
            made["COVER"] = os.path.join(folder, "cover.jpg")
            ffmpeg("-f", "lavfi", "-i", "testsrc2=size=32x32", "-frames:v", 1, made["COVER"])
        fill = lambda items: [made.get(item, item) for item in items]
        ffmpeg(*fill(kind.inputs), *fill(kind.arguments), path)
        if kind.after:
            kind.after(path)
    return path


def rotated(matrix):
    """Writes a display matrix into the header of the first track."""
    def change(path):
        with open(path, "r+b") as file:
            data = file.read()
            at = data.index(b"tkhd") + 4 + 4 + 20 + 8 + 8
            file.seek(at)
            file.write(struct.pack(">9i", *matrix))
    return change


def repeated(path):
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "ab") as file:
        file.write(data)


QUARTER = (0, 1 << 16, 0, -(1 << 16), 0, 0, 48 << 16, 0, 1 << 30)
HALF = (-(1 << 16), 0, 0, 0, -(1 << 16), 0, 64 << 16, 48 << 16, 1 << 30)
MIRROR = (-(1 << 16), 0, 0, 0, 1 << 16, 0, 64 << 16, 0, 1 << 30)


def video(name, file, *arguments, **more):
    return Kind(name, file, list(arguments), **more)


def sound(name, file, *codec, **more):
    return Kind(name, file, [*AVC, *codec, "-shortest"], TESTSRC + SINE, **more)


ANY = ("mp4", "mov", "mkv", "ts")
CAPTIONED = video("closed captions", "captions.264", *AVC, "-bf", "0", "-x264-params", "slices=1:threads=1", after=captioned,
                  outputs=ANY, times_unlike=True)
KINDS = [
    # containers
    video("H.264 in mp4", "a.mp4", *AVC, outputs=ANY),
    video("H.264 in mov", "a.mov", *AVC),
    video("H.264 in Matroska", "a.mkv", *AVC, outputs=ANY),
    video("H.264 in a transport stream", "a.ts", *AVC, outputs=ANY),
    video("H.264 in FLV", "a.flv", *AVC),
    video("H.264 in AVI", "a.avi", *AVC, "-bf", "0", times_unlike=True),
    video("bare H.264", "a.264", *AVC, "-bf", "0", times_unlike=True),
    video("fragmented mp4", "frag.mp4", *AVC, "-movflags", "+frag_keyframe+empty_moov"),
    video("H.264 in 3gp", "a.3gp", *AVC),
    video("NUT", "a.nut", "-c:v", "ffv1", outputs=("mp4", "mkv")),
    video("MXF with time code", "a.mxf", "-c:v", "mpeg2video", "-timecode", "01:00:00:00", outputs=("mov", "ts")),
    video("YUV4MPEG2", "a.y4m", "-pix_fmt", "yuv420p", times_unlike=True),
    video("program stream", "a.mpg", "-c:v", "mpeg2video", outputs=("mp4", "mkv"), times_unlike=True),
    video("m2ts", "a.m2ts", *AVC),
    # codecs
    video("HEVC", "hevc.mp4", "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none"),
    video("VP8", "vp8.webm", "-c:v", "libvpx"),
    video("VP9", "vp9.webm", "-c:v", "libvpx-vp9", "-deadline", "realtime", outputs=("mkv",)),
    video("VP9 with alpha", "vp9a.webm", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-pix_fmt", "yuva420p"),
    video("MPEG-4 Visual", "mp4v.mp4", "-c:v", "mpeg4"),
    video("MPEG-2 with B pictures", "m2v.ts", "-c:v", "mpeg2video", "-bf", "2", outputs=("mkv",)),
    video("ProRes", "prores.mov", "-c:v", "prores_ks"),
    video("ProRes 4444 with alpha", "prores4.mov", "-c:v", "prores_ks", "-pix_fmt", "yuva444p10le"),
    video("Motion JPEG", "mjpeg.mov", "-c:v", "mjpeg", "-pix_fmt", "yuvj420p"),
    video("FFV1", "ffv1.mkv", "-c:v", "ffv1", outputs=("mkv",)),
    video("Theora", "theora.ogv", "-c:v", "libtheora", times_unlike=True),
    video("QuickTime Animation", "qtrle.mov", "-c:v", "qtrle"),
    video("raw video in mov", "raw.mov", "-c:v", "rawvideo", "-pix_fmt", "uyvy422"),
    video("Windows Media", "wmv.asf", "-c:v", "wmv2"),
    video("GIF", "a.gif"),
    video("animated PNG", "a.apng", "-f", "apng"),
    video("WebP", "a.webp", "-frames:v", "1", times_unlike=True),
    # pictures
    video("JPEG", "a.jpg", "-frames:v", "1", times_unlike=True),
    video("PNG", "a.png", "-frames:v", "1", times_unlike=True),
    video("PNG with palette", "pal.png", "-frames:v", "1", "-pix_fmt", "pal8", times_unlike=True),
    video("TIFF", "a.tiff", "-frames:v", "1", times_unlike=True),
    # what pictures are like
    video("10 bits", "ten.mkv", *AVC, "-pix_fmt", "yuv420p10le"),
    video("4:2:2", "422.mkv", *AVC, "-pix_fmt", "yuv422p"),
    video("gray", "gray.mkv", "-c:v", "ffv1", "-pix_fmt", "gray"),
    video("anamorphic", "sar.mp4", *AVC, "-vf", "setsar=16/11", outputs=ANY),
    video("colour tags", "bt709.mp4", *AVC, "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709",
          outputs=ANY),
    video("full range", "full.mkv", *AVC, "-vf", "scale=out_range=full", "-color_range", "pc", outputs=("mp4", "mkv")),
    video("chroma in the centre", "centre.mkv", *AVC, "-chroma_sample_location", "center", outputs=ANY),
    video("chroma at the top left", "topleft.mkv", *AVC, "-chroma_sample_location", "topleft", outputs=("mp4", "mkv")),
    video("HDR tags", "hdr.mkv", *AVC, "-colorspace", "bt2020nc", "-color_primaries", "bt2020", "-color_trc",
          "smpte2084"),
    # times
    video("variable frame rate", "vfr.mkv", "-vf", "setpts='(N+floor(N/3))*0.04/TB'", *AVC, "-vsync", "vfr",
          "-enc_time_base", "1/1000", outputs=ANY),
    video("30000/1001", "ntsc.mp4", "-r", "30000/1001", *AVC, outputs=("mp4", "ts")),
    video("begins at half a second", "half.mkv", *AVC, "-output_ts_offset", "0.5", outputs=ANY),
    video("begins at ten hours", "tenhours.ts", *AVC, "-output_ts_offset", "36000", outputs=ANY),
    video("Matroska that begins at ten hours", "tenhours.mkv", *AVC, "-output_ts_offset", "36000", outputs=("mp4", "mkv")),
    video("clock that wraps", "wrap.ts", *AVC, "-output_ts_offset", "95442.5", outputs=("mp4", "mkv"), times_unlike=True),
    video("two recordings joined", "joined.ts", *AVC, after=repeated, outputs=("mp4", "mkv"), times_unlike=True),
    # audio
    sound("AAC", "aac.mp4", "-c:a", "aac", outputs=ANY),
    sound("AAC in a transport stream", "aac.ts", "-c:a", "aac", outputs=ANY),
    sound("AAC and video at ten hours", "aac10.ts", "-c:a", "aac", "-output_ts_offset", "36000", outputs=ANY),
    sound("MP3", "mp3.mkv", "-c:a", "libmp3lame", outputs=ANY),
    sound("AC-3", "ac3.mkv", "-c:a", "ac3", outputs=ANY),
    sound("Opus", "opus.mkv", "-c:a", "libopus", outputs=ANY),
    sound("FLAC", "flac.mkv", "-c:a", "flac", outputs=ANY),
    sound("TrueHD", "truehd.mkv", "-c:a", "truehd", "-strict", "-2", outputs=ANY),
    sound("PCM", "pcm.mov", "-c:a", "pcm_s16le", outputs=ANY),
    sound("Vorbis", "vorbis.mkv", "-c:a", "libvorbis", outputs=ANY),
    sound("DTS", "dts.mkv", "-c:a", "dca", "-strict", "-2", "-ac", "2", outputs=("mp4", "mkv", "ts")),
    Kind("two audio tracks with languages", "two.mkv",
         ["-map", "0", "-map", "1", "-map", "1", *AVC, "-c:a", "aac", "-metadata:s:a:0", "language=eng", "-metadata:s:a:1",
          "language=fre"], TESTSRC + SINE, outputs=ANY),
    # subtitles
    Kind("SubRip", "srt.mkv", [*AVC, "-c:s", "srt"], TESTSRC + ["-i", "SRT"], outputs=ANY),
    Kind("ASS", "ass.mkv", [*AVC, "-c:s", "ass"], TESTSRC + ["-i", "SRT"], outputs=("mp4", "mkv")),
    Kind("mov_text", "text.mp4", [*AVC, "-c:s", "mov_text"], TESTSRC + ["-i", "SRT"], outputs=("mp4", "mov", "mkv")),
    Kind("WebVTT", "vtt.mkv", [*AVC, "-c:s", "webvtt"], TESTSRC + ["-i", "SRT"], outputs=("mp4", "mkv")),
    # what else a file holds
    Kind("chapters and title", "chapters.mkv", ["-map_metadata", "1", *AVC], TESTSRC + ["-i", "META"], outputs=ANY),
    Kind("chapters in mp4", "chapters.mp4", ["-map_metadata", "1", *AVC], TESTSRC + ["-i", "META"], outputs=ANY),
    Kind("attached font", "font.mkv", ["-map_metadata", "1", "-attach", "FONT", "-metadata:s:t", "mimetype=font/ttf", *AVC],
         TESTSRC + ["-i", "META"], outputs=("mp4", "mkv")),
    Kind("cover in mp4", "cover.mp4",
         ["-map", "0", "-map", "1", *AVC, "-c:v:1", "copy", "-disposition:v:1", "attached_pic"], TESTSRC + ["-i", "COVER"],
         outputs=ANY),
    Kind("second video", "videos.mkv", ["-map", "0", "-map", "0", *AVC], TESTSRC, outputs=("mp4", "mkv", "ts")),
    Kind("time code", "timecode.mov", [*AVC, "-timecode", "01:02:03:04"], TESTSRC, outputs=ANY),
    CAPTIONED,
    video("turned by a quarter", "quarter.mp4", *AVC, after=rotated(QUARTER), outputs=("mp4", "mov", "mkv", "ts")),
    video("turned by a half", "halfturn.mp4", *AVC, after=rotated(HALF)),
    video("mirrored", "mirror.mp4", *AVC, after=rotated(MIRROR), outputs=("mp4",)),
    video("turned and autorotated", "auto.mp4", *AVC, after=rotated(QUARTER), options=("--autorotate",), outputs=("mp4", "mkv")),
]
