"""Tests that others can read the files that are written."""

import io
import os
import resource
import shutil
import signal
import subprocess

import numpy as np
import pytest

import cu264
from cu264 import protect


def test_an_mp4_file_holds_the_stream(clip, tmp_path, decode, probe_file):
    path = tmp_path / "clip.mp4"
    settings = {"qp": 20, "profile": "baseline"}
    cu264.write_video(path, clip, "30000/1001", sample_aspect_ratio="16/11", primaries=1, transfer=1, **settings)
    assert path.read_bytes() == cu264.encode(
        clip, (30000, 1001), sample_aspect_ratio="16/11", primaries=1, transfer=1, **settings)
    stream = cu264.encode(clip, 30000 / 1001, container="h264", **settings)
    assert decode(path) == decode(stream, ".264")
    found = dict(probe_file(
        path, "stream=codec_name,profile,width,height,sample_aspect_ratio,r_frame_rate,avg_frame_rate,start_time,"
        "duration,nb_frames,nb_read_frames,color_space,color_primaries,color_transfer,color_range", "-count_frames"))
    assert found == {
        "codec_name": "h264", "profile": "Constrained Baseline", "width": "98", "height": "66",
        "sample_aspect_ratio": "16:11", "r_frame_rate": "30000/1001", "avg_frame_rate": "30000/1001",
        "start_time": "0.000000", "duration": "0.300300", "nb_frames": "9", "nb_read_frames": "9",
        "color_space": "smpte170m", "color_primaries": "bt709", "color_transfer": "bt709", "color_range": "tv"}
    assert os.stat(path).st_mode & 0o777 == 0o666 & ~_umask()


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_large_files_in_memory_are_as_on_the_disk(tmp_path):
    noise = np.random.default_rng(7).integers(0, 256, (32, 384, 512), dtype=np.uint8)
    settings = {"qp": 2, "preset": "fast", "slices": 3}
    cu264.write_video(tmp_path / "clip.mp4", noise, 25, **settings)
    expected = (tmp_path / "clip.mp4").read_bytes()
    assert len(expected) > 5_000_000
    small = cu264.encode(noise[:1], 25, **settings)
    for _ in range(2):  # memory is used again
        assert cu264.encode(noise, 25, **settings) == expected
        assert cu264.encode(noise[:1], 25, **settings) == small
    files = [io.BytesIO(), io.BytesIO()]
    with cu264.VideoWriter(files[0], 25, **settings) as first, cu264.VideoWriter(files[1], 25, **settings) as second:
        for picture in noise[:6]:
            first.write(picture)
            second.write(picture)
    assert files[0].getvalue() == files[1].getvalue() == cu264.encode(noise[:6], 25, **settings)


def test_every_container_holds_the_same_pictures(clip, tmp_path, decode):
    expected = decode(cu264.encode(clip, 25))
    assert len(expected) == 9 * 66 * 98 * 3 // 2
    assert decode(cu264.encode(clip, 25, container="fmp4")) == expected
    assert decode(cu264.encode(clip, 25, container="h264"), ".264") == expected
    cu264.write_video(tmp_path / "clip.h264", clip, 25)
    assert (tmp_path / "clip.h264").read_bytes() == cu264.encode(clip, 25, container="h264")


@pytest.mark.parametrize("profile, cavlc, name", [("high", False, "High"), ("high", True, "High"), ("auto", False, "High"),
                                                  ("baseline", False, "Constrained Baseline")])
def test_profiles(clip, tmp_path, decode, probe_file, profile, cavlc, name):
    path = tmp_path / "clip.mp4"
    settings = {"profile": profile, "cavlc": cavlc, "qp": 20}
    cu264.write_video(path, clip, 25, **settings)
    assert dict(probe_file(path, "stream=profile,level")) == {"profile": name, "level": "10"}
    pictures = decode(path)
    assert pictures == decode(cu264.encode(clip, 25, container="h264", **settings), ".264")
    encoder = cu264.Encoder(25, **settings)
    packets = list(encoder.packets(clip))
    assert (encoder.profile, encoder.cabac) == (name.lower().split()[-1], name == "High" and not cavlc)
    assert b"".join(packet.data for packet in packets[:1]).startswith(encoder.extradata[:8])
    with cu264.StreamEncoder(25, **settings) as stream:
        stream.encode(clip)
        assert stream.mime_type == f'video/mp4; codecs="avc1.{"641C" if name == "High" else "42C0"}0A"'


def test_the_papers_stages_have_the_bytes_of_production(clip):
    def encoded(**settings):
        return cu264.encode(clip, 25, container="h264", qp=24, **settings)

    cavlc, guided = encoded(cavlc=True), encoded(cavlc=True, edge_guided=2)
    assert encoded(entropy="cavlcu") == encoded(packing="gvle") == encoded(entropy="cavlcu", packing="gvle", profile="high") == cavlc
    assert encoded(pipeline="published") == guided != cavlc
    assert encoded(edge_guided=1, pipeline="published") == encoded(cavlc=True, edge_guided=1)
    assert encoded(packing="production", pipeline="published") == guided
    assert encoded(pipeline="production") == encoded()
    encoder = cu264.Encoder(25, pipeline="published")
    list(encoder.packets(clip))
    assert (encoder.profile, encoder.cabac) == ("high", False)


@pytest.mark.parametrize("name, accepted", [
    ("entropy", "production or cavlcu"), ("packing", "production or gvle"), ("pipeline", "production or published")])
def test_the_papers_stages_have_names(clip, name, accepted):
    with pytest.raises(ValueError, match=accepted):
        cu264.encode(clip, 25, **{name: "CAVLC"})
    with pytest.raises(TypeError, match=f"{name} must be a str"):
        cu264.encode(clip, 25, **{name: 1})


def test_an_automatic_profile_has_cavlc_for_protection(clip):
    key = protect.Key.random()
    sealed = cu264.Encoder(25, profile="auto", encryption=protect.Encryption(key, "signs"))
    list(sealed.packets(clip))
    assert (sealed.profile, sealed.cabac) == ("high", False)
    with pytest.raises(ValueError, match="CAVLC"):
        list(cu264.Encoder(25, profile="high", encryption=protect.Encryption(key, "signs")).packets(clip))


def test_the_profile_main_holds_the_same_pictures(clip, tmp_path, decode, probe_file):
    path = tmp_path / "main.mp4"
    # Presets that decide by rate count the coder's bits, so with CABAC only `fast` makes Baseline's decisions.
    for preset, cavlc in (("fast", False), ("fast", True), ("balanced", True)):
        cu264.write_video(path, clip, 25, profile="main", cavlc=cavlc, preset=preset)
        assert dict(probe_file(path, "stream=profile")) == {"profile": "Main"}
        assert decode(path) == decode(cu264.encode(clip, 25, profile="baseline", preset=preset))
    with pytest.raises(ValueError, match="profile"):
        cu264.encode(clip, 25, profile="extended")


def test_scaling_lists(clip, tmp_path, decode):
    high = {"profile": "high", "backend": "cpu", "preset": "fast"}
    flat, jvt = (decode(cu264.encode(clip, 25, cqm=cqm, **high)) for cqm in ("flat", "jvt"))
    assert flat != jvt and len(flat) == len(jvt)
    path = tmp_path / "lists.cfg"
    path.write_text("INTRA8X8_LUMA = " + 64 * "16,")
    assert decode(cu264.encode(clip, 25, cqmfile=path, **high)) == flat
    with pytest.raises(TypeError, match="give one of them"):
        cu264.encode(clip, 25, cqm="jvt", cqmfile=path, **high)
    with pytest.raises(ValueError, match="only the profile high"):
        cu264.encode(clip, 25, cqm="jvt", profile="main", backend="cpu")
    path.write_text("INTRA8X8_LUMA = 16")
    with pytest.raises(ValueError, match="only 1 of 64 numbers"):
        cu264.encode(clip, 25, cqmfile=path, **high)


def test_colours_come_back(decode):
    colours = np.array([[255, 255, 255], [0, 0, 0], [200, 30, 30], [20, 120, 220]], np.uint8)
    frames = np.repeat(np.repeat(colours[:, None, None], 32, 1), 48, 2)
    planes = np.frombuffer(decode(cu264.encode(frames, 25, qp=4)), np.uint8).reshape(4, 48, 48)
    expected_luma = 16 + colours @ (0.299, 0.587, 0.114) * 219 / 255  # BT.601, limited range
    assert np.abs(planes[:, 4, 4] - expected_luma).max() <= 2


def test_variable_durations_and_a_late_beginning(clip, tmp_path, probe_file):
    path = tmp_path / "clip.mp4"
    with cu264.VideoWriter(path, 25, time_base="1/1000") as video:
        video.write(clip[:3], pts=[2000, 2040, 2200])
        video.write(clip[3:4], pts=[2500])
    times = [value for _, value in probe_file(path, "packet=pts_time", "-select_streams", "v")]
    assert times == ["2.000000", "2.040000", "2.200000", "2.500000"]
    assert dict(probe_file(path, "stream=start_time"))["start_time"] == "2.000000"
    assert abs(float(dict(probe_file(path, "format=duration"))["duration"]) - 2.54) < 0.001


def test_an_iterable_of_chunks_is_one_video(clip):
    whole, pieces = io.BytesIO(), io.BytesIO()
    cu264.write_video(whole, clip, 25)
    cu264.write_video(pieces, (clip[i:i + 2] for i in range(0, 9, 2)), 25)
    singles = io.BytesIO()
    cu264.write_video(singles, iter(clip), 25)
    assert whole.getvalue() == pieces.getvalue() == singles.getvalue() == cu264.encode(clip, 25)


@pytest.mark.parametrize("name", ["clip.mp4", "clip.h264"])
def test_an_exception_leaves_no_file(clip, tmp_path, name):
    old = tmp_path / name
    old.write_bytes(b"old")
    with pytest.raises(KeyError):
        with cu264.VideoWriter(old, 25) as video:
            video.write(clip)
            raise KeyError
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]
    video = cu264.VideoWriter(old, 25)
    video.write(clip)
    del video
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


@pytest.mark.parametrize("name", ["clip.mp4", "clip.h264"])
def test_a_full_disk_leaves_no_file(clip, tmp_path, name):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, limits[1]))
    try:
        with pytest.raises(OSError):
            cu264.write_video(tmp_path / name, clip, 25, qp=2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert not list(tmp_path.iterdir())


def test_a_fragment_a_chunk(clip, decode):
    stream = cu264.StreamEncoder(25, profile="baseline")
    pieces = [stream.encode(clip[i:i + 3]) for i in (0, 3, 6)]
    assert stream.mime_type == 'video/mp4; codecs="avc1.42C00A"'
    last = stream.close()
    assert all(piece.count(b"moof") == 1 for piece in pieces)
    assert pieces[0][4:8] == b"ftyp" and pieces[1][4:8] == pieces[2][4:8] == b"moof"
    assert decode(b"".join(pieces) + last) == decode(cu264.encode(clip, 25, profile="baseline"))
    assert len(decode(b"".join(pieces[:2]))) == 6 * 66 * 98 * 3 // 2


def test_packets(clip):
    encoder = cu264.Encoder(25, time_base="1/1000")
    packets = list(encoder.packets(clip))
    assert [packet.pts for packet in packets] == [40 * i for i in range(9)]
    assert all(packet.keyframe and packet.size == len(packet.data) for packet in packets)
    # A bare stream has the parameter sets before every picture, the packets have them before the first alone.
    parameter_sets = packets[0].data.split(b"\0\0\1\x06")[0]
    expected = packets[0].data + b"".join(parameter_sets + packet.data for packet in packets[1:])
    assert cu264.encode(clip, 25, time_base="1/1000", container="h264") == expected
    assert encoder.extradata[4] & 31 == 7


AUDIO = {"aac": ["-c:a", "aac", "-f", "adts"], "opus": ["-c:a", "libopus", "-f", "ogg"]}


@pytest.mark.parametrize("codec", AUDIO)
@pytest.mark.parametrize("container", ["mp4", "fmp4"])
def test_audio(clip, tmp_path, probe_file, codec, container):
    av = pytest.importorskip("av")
    coded = tmp_path / "audio.mp4"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=440:sample_rate=48000:duration=1", "-ac", "2",
                    "-strict", "-2", "-c:a", codec if codec == "aac" else "libopus", coded], check=True)
    with av.open(str(coded)) as source:
        track = source.streams.audio[0]
        packets = [(bytes(p), p.pts, p.duration) for p in source.demux(track) if p.size]
        audio = cu264.Audio(codec, bytes(track.codec_context.extradata), track.rate, 2, packets)
    path = tmp_path / "both.mp4"
    cu264.write_video(path, np.repeat(clip, 3, axis=0), 25, audio=audio, container=container)
    found = probe_file(path, "stream=codec_name,sample_rate,channels,nb_read_packets", "-count_packets",
                       "-select_streams", "a")
    assert dict(found) == {"codec_name": codec, "sample_rate": "48000", "channels": "2",
                           "nb_read_packets": str(len(packets))}

    def samples(file):
        return subprocess.run(["ffmpeg", "-v", "error", "-i", file, "-vn", "-f", "s16le", "-"], capture_output=True,
                              check=True).stdout

    # FFmpeg does not cut the priming of AAC in fragments, not even in its own.
    assert samples(path).endswith(samples(coded))
    if (codec, container) != ("aac", "fmp4"):
        assert len(samples(path)) == len(samples(coded))


def test_pyav_reads_and_seeks(clip, tmp_path):
    av = pytest.importorskip("av")
    path = tmp_path / "clip.mp4"
    cu264.write_video(path, clip, 25)
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        assert stream.frames == 9 and stream.average_rate == 25
        assert [packet.is_keyframe for packet in file.demux(stream) if packet.size] == [True] * 9
        every = [frame.to_ndarray() for frame in _decoded(file, stream, 0)]
        for index in (7, 2, 5):
            frame = next(iter(_decoded(file, stream, index)))
            assert np.array_equal(frame.to_ndarray(), every[index])


def _decoded(file, stream, index):
    file.seek(int(index / 25 / stream.time_base), stream=stream)
    return file.decode(stream)


def test_mp4box_finds_no_fault(clip, tmp_path):
    tool = shutil.which("MP4Box")
    if tool is None:
        pytest.skip("there is no MP4Box")
    for container in ("mp4", "fmp4"):
        path = tmp_path / "clip.mp4"
        cu264.write_video(path, clip, 25, container=container)
        result = subprocess.run([tool, "-info", path], capture_output=True, text=True, check=True)
        assert "Error" not in result.stderr and "Warning" not in result.stderr
