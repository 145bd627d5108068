"""What users try: other shapes and types, mistakes, progress, warnings, messages, and long calls that are interrupted."""

import inspect
import io
import logging
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import warnings
from fractions import Fraction

import numpy as np
import pytest

import cu264
from cu264 import protect
from cu264.settings import rational


# Shapes that may be read in two ways

def test_a_gray_clip_in_chunks_of_three(clip):
    gray = np.ascontiguousarray(clip[..., 0])
    expected = cu264.encode(gray, 25)
    file = io.BytesIO()
    with cu264.VideoWriter(file, 25) as video:
        with pytest.raises(ValueError, match="layout=\"CHW\".*layout=\"THW\""):
            video.write(gray[:3])
        video.write(gray[:6])
        video.write(gray[6:])  # the layout is known
    assert file.getvalue() == expected
    for settings in ({"layout": "THW"}, {"pixel_format": "gray"}):
        assert cu264.encode([gray[:3], gray[3:6], gray[6:]], 25, **settings) == expected
    encoder = cu264.Encoder(25)
    with pytest.raises(ValueError, match="say which"):
        encoder.send(gray[:4])
    assert len(encoder.send(gray[:2]) + encoder.send(gray[2:6]) + encoder.send(gray[6:]) + encoder.flush()) == 9


def test_the_layout_stays(clip):
    planes = np.ascontiguousarray(clip.transpose(0, 3, 1, 2))
    expected = cu264.encode(clip, 25)
    assert cu264.encode([planes[:4], planes[4], *planes[5:]], 25) == expected  # (3, H, W) after (4, 3, H, W)
    assert cu264.encode([clip[:4], clip[4], *clip[5:]], 25) == expected
    for colour in ("rgb", "bgr"):
        channels = planes if colour == "rgb" else planes[:, ::-1]
        assert cu264.encode(list(np.ascontiguousarray(channels)), 25, pixel_format=colour) == expected
    group = cu264.StreamGroup(backend="cpu")
    with group.open(25) as stream:
        stream.submit(planes[0])  # one picture, so that there is one way
        assert stream.receive(5).data


def test_a_loop_that_was_left_does_not_spoil_the_next_clip(clip):
    encoder = cu264.Encoder(25)
    expected = [packet.data for packet in encoder.packets(clip)]
    for _ in range(2):
        for packet in encoder.packets(clip[::-1]):
            break
        assert [packet.data for packet in encoder.packets(clip)] == expected
    left = encoder.packets(clip)
    next(left)
    assert [packet.pts for packet in encoder.send(clip) + encoder.flush()] == list(range(9))
    with pytest.raises(ValueError, match="another clip"):
        next(left)
    encoder.send(clip)
    with pytest.raises(ValueError, match="flush"):
        next(encoder.packets(clip))
    assert len(encoder.flush()) > 0


# What counts as an array

def test_lists_are_taken_by_every_call(clip, tmp_path):
    expected = cu264.encode(clip, 25)
    for chunks in (list(clip), tuple(clip), [clip[:4], clip[4:]], (each for each in clip)):
        assert cu264.encode(chunks, 25) == expected
    for chunks in (list(clip), (each for each in clip)):
        file = io.BytesIO()
        with cu264.VideoWriter(file, 25) as video:
            video.write(chunks)
        assert file.getvalue() == expected
    with cu264.VideoWriter(tmp_path / "clip.mp4", 25) as video:
        video.write(list(clip), pts=range(9), qps=[27] * 9)
        with pytest.raises(ValueError, match="9 frames, but 3 values of pts"):
            video.write(list(clip), pts=[20, 21, 22])
        with pytest.raises(TypeError, match="must be an array"):
            video.write([clip, None])
    packets = cu264.Encoder(25)
    one, other = packets.send(list(clip)) + packets.flush(), list(cu264.Encoder(25).packets(list(clip)))
    assert [packet.data for packet in one] == [packet.data for packet in other]
    stream = cu264.StreamEncoder(25)
    assert stream.encode(list(clip[:4])).count(b"moof") == 1
    view = memoryview(clip.tobytes()).cast("B", clip.shape)
    cu264.write_video(tmp_path / "view.mp4", view, 25)
    assert (tmp_path / "view.mp4").read_bytes() == expected


def test_images_are_taken_by_every_call(clip, tmp_path):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    images = [image.fromarray(picture) for picture in clip]
    expected = cu264.encode(clip, 25)
    assert cu264.encode(images, 25) == expected
    assert cu264.encode([each.convert("RGBA") for each in images], 25) == expected
    cu264.write_video(tmp_path / "clip.mp4", images, 25)
    assert (tmp_path / "clip.mp4").read_bytes() == expected
    file = io.BytesIO()
    with cu264.VideoWriter(file, 25) as video:
        video.write(images[0])
        video.write(images[1:], qps=[None] * 8)
    assert file.getvalue() == expected
    packets = [packet.data for packet in cu264.Encoder(25).packets(clip)]
    encoder = cu264.Encoder(25)
    assert [packet.data for packet in encoder.send(images) + encoder.flush()] == packets
    assert [packet.data for packet in encoder.packets(iter(images))] == packets
    assert cu264.StreamEncoder(25).encode(images[:4]) == cu264.StreamEncoder(25).encode(clip[:4])
    with cu264.StreamGroup(backend="cpu").open(25) as stream:
        stream.submit(images[0])
        assert stream.receive(5).data == packets[0]
    gray = [each.convert("L") for each in images]
    values = np.stack([np.asarray(each) for each in gray])
    assert cu264.encode(images, 25, pixel_format="gray") == cu264.encode(values, 25, pixel_format="gray")
    edges = cu264.edges.detect(values)
    assert (cu264.edges.detect(images) == edges).all() and (cu264.edges.detect(gray[2]) == edges[2]).all()
    assert (cu264.edges.detect(list(values)) == edges).all()


def test_bitrates_and_colours_have_names(clip):
    assert cu264.encode(clip, 25, bitrate="1.5M", buffer_bits="900k") == cu264.encode(
        clip, 25, bitrate=1_500_000, buffer_bits=900_000)
    named = {"matrix": "bt709", "primaries": "bt2020", "transfer": "smpte2084"}
    assert cu264.encode(clip, 25, **named) == cu264.encode(clip, 25, matrix=1, primaries=9, transfer=16)
    assert cu264.encode(clip, 25, matrix="bt601", transfer="PQ") == cu264.encode(clip, 25, matrix=6, transfer=16)
    assert cu264.encode(clip, 25, primaries=22) != cu264.encode(clip, 25)
    encoder = cu264.Encoder(25, bitrate="2M", lookahead=0)
    encoder.reconfigure(bitrate="500k")


def test_a_timed_bitrate_counts_durations(clip):
    settings = {"time_base": "1/1000", "bitrate": 400_000, "lookahead": 0}
    pts, shown = [0, 10, 20, 30, 40, 50, 60, 70, 80], [10, 10, 10, 10, 10, 10, 10, 10, 400]

    def sizes(**options):
        encoder = cu264.Encoder(25, **settings, **options.pop("more", {}))
        return [len(packet.data) for packet in encoder.send(clip, pts, **options) + encoder.flush()]

    timed = {"timed_bitrate": True}
    told = sizes(more=timed, durations=shown)
    assert told[8] > 3 * max(told[1:8])
    assert sizes(more=timed, durations=shown[:8] + [40]) == sizes(more=timed)  # until the next one, and 1 / fps
    assert sizes(durations=shown) == sizes() != told
    group = cu264.StreamGroup(backend="cpu", queue=16)
    stream = group.open(25, **settings, **timed)
    for picture, time, duration in zip(clip, pts, shown):
        stream.submit(picture, time, duration=duration)
    stream.flush()
    packets = iter(stream.receive, None)
    assert [len(packet.data) for packet in packets] == told
    with pytest.raises(ValueError, match="9 frames, but 3 values of durations"):
        sizes(more=timed, durations=[40, 40, 40])
    with pytest.raises(ValueError, match="durations must be positive"):
        sizes(more=timed, durations=[0] * 9)
    with pytest.raises(ValueError, match="a buffer counts pictures"):
        cu264.Encoder(25, bitrate=400_000, timed_bitrate=True, cbr=True).send(clip)
    with pytest.raises(TypeError, match="timed_bitrate must be True or False"):
        cu264.Encoder(25, bitrate=400_000, timed_bitrate=1)


def test_orders_of_channels_in_host_memory(clip):
    expected = cu264.encode(clip, 25)
    alpha = np.full_like(clip[..., :1], 9)
    rgba = np.concatenate([clip, alpha], axis=-1)
    bgra = np.ascontiguousarray(np.concatenate([clip[..., ::-1], alpha], axis=-1))
    assert cu264.encode(bgra, 25, pixel_format="bgr") == cu264.encode(bgra, 25, pixel_format="bgra") == expected
    floats = cu264.encode(clip.astype(np.float32) / 255, 25)
    assert floats == expected
    for kind in (np.float32, np.float16):
        assert cu264.encode((rgba / 255).astype(kind), 25) == expected
        assert cu264.encode((bgra / 255).astype(kind), 25, pixel_format="bgr") == expected
        assert cu264.encode((bgra[..., :3] / 255).astype(kind), 25, pixel_format="bgr") == expected
    strided = np.repeat(bgra, 2, axis=1)[:, ::2]
    assert cu264.encode(strided, 25, pixel_format="bgr") == expected


def test_floats_from_0_to_255(clip):
    expected = cu264.encode(clip, 25)
    for kind in (np.float32, np.float16):
        for frames in (clip.astype(kind), np.ascontiguousarray(clip.astype(kind).transpose(0, 3, 1, 2))):
            assert cu264.encode(frames, 25, value_range=(0, 255)) == expected
    odd = np.array([-3, 0.4, 0.5, 254.6, 300, np.nan, np.inf, -np.inf] * 32, np.float32).reshape(1, 16, 16)
    even = np.array([0, 0, 1, 255, 255, 0, 255, 0] * 32, np.uint8).reshape(1, 16, 16)
    assert cu264.encode(odd, 25, value_range=(0, 255)) == cu264.encode(even, 25)
    with pytest.raises(ValueError, match="uint8"):
        cu264.encode(clip, 25, value_range=(0, 255))


@pytest.mark.parametrize("change", [
    lambda f: f.astype(np.float32), lambda f: f.astype(np.float16), lambda f: f.astype(np.float32).transpose(0, 3, 1, 2),
    lambda f: f / np.float32(127.5) - 1 - 1, lambda f: list(f.astype(np.float32))])
def test_most_samples_outside_the_range_are_a_warning(clip, change):
    with pytest.warns(UserWarning, match=r"most samples .* value_range=\(0, 255\)") as caught:
        cu264.encode(change(clip), 25)
    assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cu264.encode(clip.astype(np.float32) / 255 * 1.1, 25)  # some are
        cu264.encode(clip.astype(np.float32), 25, value_range=(0, 255))
        cu264.encode(clip, 25)


def test_odd_sizes_are_a_warning(clip, tmp_path):
    for call in (lambda f: cu264.encode(f, 25), lambda f: list(cu264.Encoder(25).packets(f)),
                 lambda f: cu264.write_video(tmp_path / "clip.mp4", f, 25),
                 lambda f: cu264.StreamGroup(backend="cpu").open(25).submit(f[0])):
        with pytest.warns(UserWarning, match="width") as caught:
            call(np.ascontiguousarray(clip[:, :, :97]))
        assert caught[0].filename == __file__


# Settings

@pytest.mark.parametrize("value, rate", [
    (29.97, "30000/1001"), (23.976, "24000/1001"), (23.98, "24000/1001"), (59.94, "60000/1001"), (119.88, "120000/1001"),
    (47.952, "48000/1001"), ("29.97", "30000/1001"), (np.float64(23.976), "24000/1001"), (np.float32(59.94), "60000/1001"),
    (30000 / 1001, "30000/1001"), (14.985, "15000/1001"), (11.988, "12000/1001"), (25, "25"), (25.0, "25"), (30, "30"),
    (12.5, "25/2"), (24.5, "49/2"), (0.5, "1/2"), (29.5, "59/2"), ((2997, 100), "2997/100"), ("2997/100", "2997/100"),
    (Fraction(2997, 100), "2997/100"), (1.5, "3/2"), (0.999, "999/1000"), (15, "15"), ("25", "25")])
def test_rates(value, rate):
    assert rational(value, "fps") == Fraction(rate)


@pytest.mark.parametrize("name", ["deblock", "cavlc", "cbr", "full_range"])
@pytest.mark.parametrize("value", ["off", "false", "on", 2, 0.0, 1])
def test_switches_are_bools(clip, name, value):
    with pytest.raises(TypeError, match=f"{name} must be True or False"):
        cu264.encode(clip, 25, **{name: value})


def test_other_switches_are_bools(clip):
    key = protect.Key.random()
    stream = cu264.encode(clip, 25, container="h264", cavlc=np.bool_(True))
    for call in (lambda: protect.encrypt(stream, key, authenticate="no"),
                 lambda: protect.decrypt(stream, key, require_authentication="no"),
                 lambda: cu264.edges.Detector(density_scaling="no"),
                 lambda: cu264.encode(clip, 25, progress="no")):
        with pytest.raises(TypeError, match="must be True"):
            call()


@pytest.mark.parametrize("settings, text", [
    ({"max_bitrate": 10**6, "bitrate": 2 * 10**6}, "largest bitrate"), ({"frame_bytes": -1}, "frame_bytes"),
    ({"on_overflow": "fail"}, "on_overflow"), ({"edge_guided": 9}, "edge_guided"), ({"max_frame_bytes": -1}, "max_frame_bytes"),
    ({"edge_thresholds": "frame"}, "edge_thresholds"), ({"aq_strength": 2}, "aq_strength"),
    ({"edge_guided": 1, "edge_thresholds": "often"}, "edge_thresholds")])
def test_messages_have_this_packages_words(clip, settings, text):
    with pytest.raises(ValueError) as caught:
        cu264.encode(clip, 25, **settings)
    assert text in str(caught.value)
    assert not any(word in str(caught.value) for word in ("--", "maxrate", "bufsize", "-bytes", "-guided", "-overflow",
                                                        "-thresholds", "-strength"))


def test_keys(tmp_path, monkeypatch):
    key, path = protect.Key.random(), tmp_path / "key"
    key.write_new_file(path)
    protect.Key.from_file(path)
    protect.Key.from_file(str(path))
    for kind, call in ((FileNotFoundError, lambda: protect.Key.from_file(tmp_path / "none")),
                       (IsADirectoryError, lambda: protect.Key.from_file(tmp_path)),
                       (FileExistsError, lambda: key.write_new_file(path)),
                       (FileNotFoundError, lambda: key.write_new_file(tmp_path / "none" / "key"))):
        with pytest.raises(kind) as caught:
            call()
        assert caught.value.errno
    monkeypatch.delenv("CU264_KEY", raising=False)
    with pytest.raises(ValueError, match="Key.from_file") as caught:
        protect.Key.from_environment()
    assert "--" not in str(caught.value)


# Audio

@pytest.mark.parametrize("change", [
    lambda s: s, lambda s: s.T, lambda s: s[:, 0], lambda s: s.tolist(), lambda s: (s * 32767).astype(np.int16),
    lambda s: (s * (2**31 - 1)).astype(np.int32), lambda s: (s * 127 + 128).astype(np.uint8), lambda s: s.astype(np.float64)])
def test_audio_of_arrays(clip, change):
    av = pytest.importorskip("av", reason="PyAV is not installed")
    wave = np.sin(np.arange(24000)[:, None] * [0.05, 0.1]) * 0.4
    for audio in ((change(wave), 48000), (48000, change(wave))):
        with av.open(io.BytesIO(cu264.encode(clip, 25, audio=audio)), format="mp4") as file:
            sound = np.concatenate([frame.to_ndarray() for frame in file.decode(audio=0)], axis=1)
        assert 0.3 < np.abs(sound[:, 6000:20000]).max() < 0.5
    with pytest.raises(TypeError, match="sample rate"):
        cu264.encode(clip, 25, audio=change(wave))


# What users are told

def test_progress(clip, tmp_path):
    frames = np.repeat(clip, 20, axis=0)
    for call, total in ((lambda p: cu264.encode(frames, 25, progress=p, threads=1), 180),
                        (lambda p: cu264.write_video(tmp_path / "clip.mp4", frames, 25, progress=p), 180),
                        (lambda p: cu264.write_video(tmp_path / "clip.mp4", list(frames), 25, progress=p), 180),
                        (lambda p: cu264.write_video(tmp_path / "clip.mp4", iter(frames), 25, progress=p), None)):
        seen = []
        call(lambda *numbers: seen.append(numbers))
        assert seen[-1] == (180, total) and seen == sorted(seen)
    assert len(seen) >= 1

    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    with pytest.raises(Enough):
        cu264.write_video(tmp_path / "other.mp4", np.repeat(frames, 5, axis=0), 25, progress=stop)
    assert not (tmp_path / "other.mp4").exists()


def test_a_bar(clip, capsys):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    cu264.encode(clip, 25, progress=True)
    assert "9/9" in capsys.readouterr().err


def test_the_logger(clip, tmp_path, caplog):
    with caplog.at_level(logging.DEBUG, "cu264"):
        cu264.write_video(tmp_path / "clip.mp4", clip, 25)
    assert "98x66" in caplog.text and "clip.mp4 is written" in caplog.text


def test_versions_and_modules():
    import re

    assert re.fullmatch(r"\d+\.\d+\.\d+", cu264.__version__)
    found = cu264.info()
    assert found.version == cu264.__version__ and found.probe.backend in str(found)
    assert cu264.compat.export_to_video and "compat" in cu264.__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        cu264.nothing


def public():
    """Every function, class and method that users call."""
    modules = (cu264, cu264.edges, cu264.protect, cu264.vle)
    for module in modules:
        for name, each in inspect.getmembers(module):
            if name.startswith("_") or not getattr(each, "__module__", "").startswith("cu264") or inspect.ismodule(each):
                continue
            if inspect.isfunction(each) and module.__name__ == (each.__module__ if module is not cu264 else "cu264"):
                yield f"{module.__name__}.{name}", each
            elif inspect.isfunction(each) and module is cu264:
                yield f"cu264.{name}", each
            elif inspect.isclass(each) and each.__module__ != "cu264._core":
                for method, body in vars(each).items():
                    if not method.startswith("_") and inspect.isfunction(body):
                        yield f"{module.__name__}.{name}.{method}", body


@pytest.mark.parametrize("name, call", list(public()), ids=lambda each: each if isinstance(each, str) else "")
def test_docstrings_say_what_goes_in_and_out(name, call):
    if name.endswith((".apply", ".track")):  # for the package itself
        return
    text = inspect.getdoc(call) or ""
    assert text, name
    hints = inspect.signature(call)
    parameters = [each for each in hints.parameters if each not in ("self", "cls")]
    if parameters:
        assert "Parameters" in text, name
    if hints.return_annotation not in ("None", None, inspect.Signature.empty):
        assert "Returns" in text, name


# Long calls

@pytest.mark.parametrize("call", [
    "cu264.encode(frames, 25, preset='best', threads=1)",
    "cu264.write_video(path, frames, 25, preset='best', threads=1)",
    "list(cu264.Encoder(25, preset='best', threads=1, lookahead=250, bitrate=10**6).packets(frames))",
    "cu264.StreamEncoder(25, preset='best', threads=1).encode(frames)",
    "cu264.edges.detect(np.broadcast_to(np.ascontiguousarray(picture[..., 0]), (2000, 180, 320)), threads=1)",
])
def test_ctrl_c_ends_a_long_call(tmp_path, call):
    program = f"""
import sys, time, numpy as np, cu264
path = sys.argv[1]
picture = np.random.default_rng(1).integers(0, 256, (180, 320, 3), dtype=np.uint8)
frames = np.broadcast_to(picture, (2000, 180, 320, 3))
print("ready", flush=True)
begin = time.monotonic()
try:
    {call}
except KeyboardInterrupt:
    print(time.monotonic() - begin, flush=True)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", program, tmp_path / "clip.mp4"], stdout=subprocess.PIPE, text=True,
                          env=environment) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline(), "the call was not interrupted"
        assert time.monotonic() - begin < 10
    assert not list(tmp_path.iterdir())


class Twice:
    """Hands out one capsule again and again."""

    def __init__(self, array):
        self.array, self.capsule = array, array.__dlpack__()

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


def test_a_capsule_is_used_once(clip):
    twice = Twice(clip.copy())
    expected = cu264.encode(clip, 25)
    assert cu264.encode(twice, 25) == expected
    for _ in range(3):
        with pytest.raises(ValueError, match="capsule"):
            cu264.encode(twice, 25)
    gray = Twice(np.ascontiguousarray(clip[..., 0]))
    out = Twice(np.zeros(clip.shape[:3], np.uint8))
    gray.shape = out.shape = clip.shape[:3]
    cu264.edges.detect(gray, out)
    for call in (lambda: cu264.edges.detect(gray, np.zeros(gray.shape, np.uint8)),
                 lambda: cu264.edges.detect(np.ascontiguousarray(clip[..., 0]), out)):
        with pytest.raises(ValueError, match="capsule"):
            call()

    class Other:
        def __dlpack__(self, **_):
            return 3

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(ValueError, match="capsule"):
        cu264.encode(Other(), 25)
