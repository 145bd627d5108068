"""Clips as cu264.ray reads and codes them, without a cluster."""

import fractions
import io

import numpy as np
import pytest

import cu264

av = pytest.importorskip("av", reason="PyAV is not installed")
pytest.importorskip("ray.data", reason="ray[data] is not installed: pip install -r python/tests/requirements-ray.txt")

from cu264.ray import transcode_clip  # noqa: E402


def read(data):
    """Time stamps in seconds, pictures as I420 or RGB, the stream and the audio's packets of a file."""
    with av.open(io.BytesIO(data)) as file:
        stream = file.streams.video[0]
        frames = list(file.decode(stream))
        facts = (
            stream.average_rate,
            stream.sample_aspect_ratio,
            frames[0].color_primaries,
            frames[0].color_trc,
            frames[0].colorspace,
            frames[0].color_range,
            frames[0].width,
            frames[0].height,
        )
    with av.open(io.BytesIO(data)) as file:
        packets = [
            (float(packet.pts * packet.time_base), bytes(packet))
            for packet in file.demux()
            if packet.size and packet.stream.type == "audio"
        ]
    return [float(frame.pts * frame.time_base) for frame in frames], frames, facts, packets


def coded(frames, codec, pixel_format, container="matroska", stamps=None, prepare=lambda stream: None):
    """A file that PyAV makes of frames, without loss where the codec has none."""
    file = io.BytesIO()
    with av.open(file, "w", format=container) as output:
        stream = output.add_stream(codec, rate=25)
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = pixel_format
        stream.time_base = fractions.Fraction(1, 1000)
        stream.codec_context.time_base = fractions.Fraction(1, 1000)
        prepare(stream)
        for i, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format=pixel_format)
            frame.pts = 40 * i if stamps is None else stamps[i]
            frame.time_base = fractions.Fraction(1, 1000)
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return file.getvalue()


def audio_packets(seconds):
    """AAC of a tone: its description and packets."""
    context = av.CodecContext.create("aac", "w")
    context.sample_rate, context.layout, context.format = 48000, "mono", "fltp"
    packets = []
    for i in range(int(seconds * 48000) // 1024):
        tone = np.sin(np.arange(i * 1024, (i + 1) * 1024) * 0.06).astype(np.float32)[None]
        frame = av.AudioFrame.from_ndarray(tone, format="fltp", layout="mono")
        frame.sample_rate, frame.pts = 48000, i * 1024
        packets += context.encode(frame)
    packets += context.encode(None)
    return cu264.Audio(
        "aac", bytes(context.extradata), 48000, 1, [(bytes(p), p.pts, p.duration or 1024) for p in packets]
    )


@pytest.fixture(scope="module")
def source(clip):
    frames = np.concatenate([clip] * 6)  # 54 pictures, 2.16 s
    return cu264.encode(
        frames, 25, qp=10, audio=audio_packets(2), sample_aspect_ratio="16/11", primaries=1, transfer=1, matrix=1
    )


def test_a_clip_keeps_pictures_times_tags_and_audio(source):
    result = transcode_clip(source, qp=20)
    times, frames, facts, packets = read(result.data)
    old_times, old_frames, old_facts, old_packets = read(source)
    assert (result.frames, result.backend, result.audio) == (54, "cpu", "copied")
    assert times == pytest.approx(old_times, abs=1e-6) and facts == old_facts
    assert [data for _, data in packets] == [data for _, data in old_packets]
    assert [time for time, _ in packets] == pytest.approx([time for time, _ in old_packets], abs=1e-4)
    pictures = np.stack([frame.to_ndarray() for frame in old_frames])
    expected = cu264.encode(
        pictures,
        25,
        qp=20,
        pixel_format="i420",
        container="h264",
        primaries=1,
        transfer=1,
        matrix=1,
        sample_aspect_ratio="16/11",
    )
    assert transcode_clip(source, qp=20, container="h264").data == expected
    assert transcode_clip(io.BytesIO(source), qp=20).data == result.data
    assert transcode_clip(source, qp=20, keep_audio=False).audio == "none"


def test_a_span(source):
    result = transcode_clip(source, span=(0.4, 1.2))
    times, frames, _, packets = read(result.data)
    assert result.frames == 20 and times[0] == 0 and times[-1] == pytest.approx(0.76)
    assert np.abs(frames[0].to_ndarray().astype(int) - read(source)[1][10].to_ndarray()).mean() < 3
    assert 0 <= packets[0][0] < 0.03 and packets[-1][0] == pytest.approx(0.79, abs=0.03)
    with pytest.raises(ValueError, match="no pictures in"):
        transcode_clip(source, span=(30, 31))


def test_times_of_a_variable_frame_rate(clip):
    stamps = [0, 40, 55, 200, 210, 300, 301, 700, 740]
    assert read(transcode_clip(coded(clip, "ffv1", "yuv420p", stamps=stamps)).data)[0] == pytest.approx(
        [stamp / 1000 for stamp in stamps]
    )


@pytest.mark.parametrize(
    "codec, pixel_format, crop",
    [
        ("ffv1", "bgr0", (66, 98)),
        ("ffv1", "yuv444p", (66, 98)),
        ("ffv1", "yuv422p10le", (66, 98)),
        ("ffv1", "gray", (66, 98)),
        ("mjpeg", "yuvj420p", (66, 98)),
        ("ffv1", "yuv420p", (65, 97)),
    ],
)
def test_formats(clip, codec, pixel_format, crop):
    clip = clip[:3, : crop[0], : crop[1]]
    data = coded(clip, codec, pixel_format, prepare=lambda stream: setattr(stream, "bit_rate", 8_000_000))
    result = transcode_clip(data, qp=10)
    _, old, _, _ = read(data)
    _, new, facts, _ = read(result.data)
    height, width = crop
    assert result.frames == 3 and facts[-2:] == (width + width % 2, height + height % 2)  # 4:2:0 has even sizes
    assert facts[5] in ((2,) if pixel_format == "yuvj420p" else (0, 1))  # limited is what a stream without a tag has
    for a, b in zip(old, new):  # as RGB, of which sharp colours lose in 4:2:0; brightness must stay
        a, b = (frame.to_ndarray(format="rgb24").astype(int) @ (299, 587, 114) // 1000 for frame in (a, b))
        assert np.abs(a - b[:height, :width]).mean() < 6


@pytest.mark.parametrize("degrees", [90, 180, -90])
def test_pictures_are_turned_as_the_file_says(clip, degrees):
    data = coded(clip[:2], "mpeg4", "yuv420p", "mp4", prepare=lambda stream: stream.set_display_rotation(degrees))
    frames = read(data)[1]
    assert frames[0].rotation % 360 == degrees % 360
    new = read(transcode_clip(data, qp=10).data)[1][0]
    expected = np.rot90(frames[0].to_ndarray(format="gray"), degrees // 90)
    assert new.rotation == 0
    assert np.abs(new.to_ndarray(format="gray").astype(int) - expected).mean() < 3


def test_what_is_not_a_clip(source):
    sound = io.BytesIO()
    with av.open(sound, "w", format="wav") as file:
        stream = file.add_stream("pcm_s16le", rate=8000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
        frame.sample_rate = 8000
        file.mux(stream.encode(frame))
    with pytest.raises(ValueError, match="no video"):
        transcode_clip(sound.getvalue())
    with pytest.raises(av.FFmpegError):
        transcode_clip(b"no film" * 100)
    with pytest.raises(TypeError, match="unexpected keyword"):
        transcode_clip(source, quality=3)


def test_bare_streams(clip):
    stream = cu264.encode(clip, 25, qp=12, container="h264")
    result = transcode_clip(stream, qp=20)
    assert result.frames == 9 and read(result.data)[0] == pytest.approx([i / 25 for i in range(9)], abs=1e-5)
    with pytest.raises(ValueError, match=r"change their size from \(98, 66\) to \(98, 34\)"):
        transcode_clip(stream + cu264.encode(clip[:, :34], 25, container="h264"))


def test_audio_that_is_left_out_is_named(clip):
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as output:
        video, audio = output.add_stream("mpeg4", rate=25), output.add_stream("pcm_s16le", rate=48000, layout="mono")
        video.height, video.width = clip.shape[1:3]
        output.mux(video.encode(av.VideoFrame.from_ndarray(clip[0], format="rgb24").reformat(format="yuv420p")))
        output.mux(video.encode(None))
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 4800), np.int16), format="s16", layout="mono")
        frame.sample_rate = 48000
        output.mux(audio.encode(frame))
        output.mux(audio.encode(None))
    result = transcode_clip(file.getvalue())
    assert result.audio.startswith("left out: pcm_s16le") and not read(result.data)[3]
