"""Matroska, transport streams and audio through PyAV, and packets in PyAV's own muxer."""

import io
import sys
from fractions import Fraction

import numpy as np
import pytest

import cu264

av = pytest.importorskip("av", reason="PyAV is not installed")


def tone(seconds, channels=2, rate=48000):
    time = np.arange(round(seconds * rate)) / rate
    waves = [0.3 * np.sin(2 * np.pi * 440 * (c + 1) * time) for c in range(channels)]
    return np.stack(waves, axis=-1).astype(np.float32)


@pytest.mark.parametrize("container", ["mkv", "ts"])
def test_containers(clip, tmp_path, decode, container):
    path = tmp_path / f"clip.{container}"
    cu264.write_video(path, clip, "30000/1001", qp=20)
    file = io.BytesIO()
    cu264.write_video(file, clip, "30000/1001", qp=20, container=container)
    expected = decode(cu264.encode(clip, "30000/1001", qp=20))
    assert decode(path) == expected
    assert decode(file.getvalue(), "." + container) == expected
    assert decode(cu264.encode(clip, "30000/1001", qp=20, container=container), "." + container) == expected
    with av.open(str(path)) as opened:
        video = opened.streams.video[0]
        frames = list(opened.decode(video))
        assert opened.format.name.startswith({"mkv": "matroska", "ts": "mpegts"}[container])
        assert (video.width, video.height) == (98, 66)
        assert abs(float(frames[8].time - frames[0].time) - 8 * 1001 / 30000) < 0.002


@pytest.mark.parametrize("container", ["mp4", "fmp4", "mkv", "ts"])
def test_key_pictures_of_gops(clip, container):
    settings = {"qp": 30, "gop": 4, "backend": "cpu"}
    data = cu264.encode(clip, 25, container=container, **settings)
    with av.open(io.BytesIO(data)) as opened:
        found = [packet.is_keyframe for packet in opened.demux(video=0) if packet.size]
    assert found == [n % 4 == 0 for n in range(len(clip))]
    packets = cu264.Encoder(25, **settings).packets(clip)
    assert [packet.keyframe for packet in packets] == found


@pytest.mark.parametrize("codec", ["aac", "opus"])
@pytest.mark.parametrize("container", ["mp4", "fmp4", "mkv", "ts"])
def test_audio_of_samples(clip, codec, container):
    audio = cu264.Audio.encode(tone(0.9), 48000, codec=codec)
    data = cu264.encode(np.concatenate([clip] * 3), 30, container=container, audio=audio)
    with av.open(io.BytesIO(data)) as opened:
        track = opened.streams.audio[0]
        assert track.codec_context.name.removeprefix("lib") in (codec, "opus" if codec == "opus" else "aac")
        assert (track.rate, track.channels) == (48000, 2)
        resampler = av.AudioResampler(format="fltp", layout="stereo", rate=48000)
        sound = np.concatenate([r.to_ndarray() for f in opened.decode(track) for r in resampler.resample(f)], axis=1)
    assert abs(sound.shape[1] - 43200) < 3000
    middle = sound[:, 10000:34000]
    for channel in range(2):  # the loudest frequency of each channel is its own
        spectrum = np.abs(np.fft.rfft(middle[channel]))
        assert abs(spectrum.argmax() * 48000 / 24000 - 440 * (channel + 1)) <= 4
    assert 0.15 < np.abs(middle).max() < 0.45


def test_samples_of_other_shapes():
    stereo = tone(0.5)
    as_int = (stereo * 32767).round().astype(np.int16)
    assert cu264.Audio.encode(stereo, 48000).packets == cu264.Audio.encode(stereo.T, 48000).packets
    assert len(cu264.Audio.encode(as_int, 48000).packets) == len(cu264.Audio.encode(stereo, 48000).packets)
    assert cu264.Audio.encode(stereo[:, 0], 48000).channels == 1
    for kind, text, call in [
        (ValueError, "aac or opus", lambda: cu264.Audio.encode(stereo, 48000, codec="mp3")),
        (ValueError, "channels", lambda: cu264.Audio.encode(np.zeros((6, 100)), 48000)),
        (ValueError, "shape", lambda: cu264.Audio.encode(np.zeros((2, 3, 4)), 48000)),
        (TypeError, "int16", lambda: cu264.Audio.encode(np.zeros(100, np.int64), 48000)),
    ]:
        with pytest.raises(kind, match=text):
            call()


def test_no_half_file_is_left(clip, tmp_path):
    with pytest.raises(RuntimeError, match="stop"):
        with cu264.VideoWriter(tmp_path / "clip.mkv", 25) as video:
            video.write(clip)
            raise RuntimeError("stop")
    assert not list(tmp_path.iterdir())


def test_packets_in_pyavs_own_muxer(clip, decode):
    """Follows what README tells those who mux themselves."""
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_mux_stream("h264", rate=25, width=98, height=66, time_base=Fraction(1, 25))
        for packet in cu264.Encoder(25).packets(clip):
            muxed = av.Packet(packet.data)
            muxed.pts = muxed.dts = packet.pts
            muxed.duration, muxed.time_base = 1, Fraction(1, 25)
            muxed.stream, muxed.is_keyframe = stream, packet.keyframe
            container.mux(muxed)
    assert decode(file.getvalue()) == decode(cu264.encode(clip, 25))


def test_without_pyav(clip, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(ImportError, match="pip install av"):
        cu264.write_video(tmp_path / "clip.mkv", clip, 25)
    with pytest.raises(ImportError, match="pip install av"):
        cu264.Audio.encode(tone(0.1), 48000)
    assert not list(tmp_path.iterdir())
