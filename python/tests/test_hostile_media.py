"""A clip reads no file, address or device that its content names."""

import io
import pathlib
import re
import socket
import threading
import time

import numpy as np
import pytest

import cu264
from cu264 import media_input

av = pytest.importorskip("av", reason="PyAV is not installed")
ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def secret(tmp_path, clip):
    """A video that no clip of another folder may show."""
    path = tmp_path / "secret.mp4"
    cu264.write_video(path, clip, 25)
    return path


@pytest.fixture
def listener():
    """A server on this machine, and the connections that came to it."""
    met = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        done = threading.Event()

        def serve():
            while not done.is_set():
                try:
                    connection = server.accept()[0]
                    met.append(connection)
                    connection.close()
                except OSError:
                    pass

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], met
        done.set()
        thread.join()


def texts(secret, port):
    """Contents that name other files or addresses, each as libavformat recognises it."""
    there = secret.as_posix()
    web = f"http://127.0.0.1:{port}/x"
    playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n%s\n#EXT-X-ENDLIST\n"
    manifest = (
        '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1S" '
        'profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="video/mp4">'
        '<Representation id="1" bandwidth="1"><BaseURL>%s</BaseURL></Representation></AdaptationSet></Period></MPD>'
    )
    return {
        "ffconcat": f"ffconcat version 1.0\nfile '{there}'\n",
        "ffconcat of a neighbour": f"ffconcat version 1.0\nfile {secret.name}\n",
        "ffconcat of an address": f"ffconcat version 1.0\nfile '{web}'\n",
        "m3u8": playlist % there,
        "m3u8 with a protocol": playlist % f"file://{there}",
        "m3u8 of an address": playlist % web,
        "m3u8 in another": playlist % f"concat:{there}",
        "m3u8 with data": playlist % "data:video/mp2t;base64,AAAA",
        "m3u8 with a key": f'#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI="{web}"\n#EXTINF:9,\n{there}\n#EXT-X-ENDLIST\n',
        "dash": manifest % there,
        "dash of an address": manifest % web,
        "sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 45678 RTP/AVP 96\n"
        "a=rtpmap:96 H264/90000\n",
        "imf": '<?xml version="1.0"?><CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016">'
        f"<Id>urn:uuid:1</Id><Path>{there}</Path></CompositionPlaylist>",
        "vobsub": "# VobSub index file, v7\nsize: 720x576\nid: en, index: 0\ntimestamp: 00:00:01:000, filepos: 00000000\n",
        "avisynth": f'AviSource("{there}")\n',
        "a pattern of names": f"{there}",
        "redirection": f"[Reference]\nRef1={web}\n",
        "rtsp redirection": f"rtsptext\nrtsp://127.0.0.1:{port}/x\n",
    }


NAMES = list(texts(pathlib.Path("/x"), 0))


def refuse(source):
    begin = time.monotonic()
    with pytest.raises((ValueError, OSError)) as caught:
        with media_input.open_media(source) as container:
            for packet in container.demux():
                assert not packet.size
            raise ValueError("nothing to read")
    assert time.monotonic() - begin < 5
    return str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_content_that_names_others_is_refused(secret, listener, name, monkeypatch):
    monkeypatch.chdir(secret.parent)
    port, met = listener
    text = texts(secret, port)[name].encode()
    message = refuse(io.BytesIO(text))
    assert "\n" not in message
    for suffix in (".m3u8", ".ffconcat", ".mpd", ".sdp", ".mp4", ".idx", ".avs", "%03d.png", "*.jpg"):
        path = secret.parent / ("list" + suffix)
        path.write_bytes(text)
        with open(path, "rb") as file:
            refuse(file)
    assert not met


@pytest.mark.parametrize("name", ["ffconcat", "ffconcat of a neighbour", "m3u8", "sdp", "dash"])
def test_a_ray_worker_refuses_it_too(secret, listener, name, monkeypatch):
    pytest.importorskip("ray.data", reason="ray[data] is not installed")
    from cu264.ray import transcode_clip

    monkeypatch.chdir(secret.parent)
    text = texts(secret, listener[0])[name].encode()
    path = secret.parent / "clip.mkv"
    path.write_bytes(text)
    for source in (text, bytearray(text), io.BytesIO(text), path, str(path)):
        begin = time.monotonic()
        with pytest.raises(ValueError, match="cannot open"):
            transcode_clip(source)
        assert time.monotonic() - begin < 5
    assert not listener[1]


def test_a_movie_whose_samples_lie_elsewhere_reads_no_other_file(secret):
    """The data reference of a QuickTime file names another one."""
    data = bytearray(secret.read_bytes())
    at = data.index(b"url \0\0\0\1")
    data[at : at + 8] = b"alis\0\0\0\0"
    begin = time.monotonic()
    try:
        with media_input.open_media(io.BytesIO(bytes(data))) as container:
            list(container.demux())
    except (ValueError, OSError):
        pass
    assert time.monotonic() - begin < 5


def test_ordinary_clips_are_read(secret, tmp_path, clip):
    for container in ("mp4", "fmp4", "h264", "mkv", "ts"):
        data = cu264.encode(clip, 25, container=container)
        with media_input.open_media(io.BytesIO(data)) as opened:
            assert len(list(opened.decode(video=0))) == len(clip)
    (tmp_path / "file:odd%03d*.mp4").write_bytes(secret.read_bytes())  # a name is a name
    with open(tmp_path / "file:odd%03d*.mp4", "rb") as file, media_input.open_media(file) as opened:
        assert len(list(opened.decode(video=0))) == len(clip)


def test_the_lists_are_those_of_the_command():
    source = ROOT / "io" / "input_formats.cpp"
    if not source.is_file():
        pytest.skip("the sources are not here")
    text = re.search(r"kNamesOtherFiles\[\] =(.*?);", source.read_text(), re.S).group(1)
    names = "".join(re.findall(r'"([^"]*)"', text)).split(",")
    assert media_input.NAME_OTHER_FILES == set(names)
    allowed = media_input.allowed_formats().split(",")
    assert media_input.NAME_OTHER_FILES.isdisjoint(allowed)
    assert {"mov", "matroska", "mpegts", "h264", "ivf"} <= set(allowed)


def test_this_is_the_one_place_that_opens_media():
    package = pathlib.Path(cu264.__file__).parent
    opens = [
        (path.name, line.strip())
        for path in sorted(package.rglob("*.py"))
        for line in path.read_text().splitlines()
        if re.search(r"\b_?av\.open\(", line)
    ]
    assert [name for name, line in opens if '"w"' not in line] == ["media_input.py"]


def test_time_and_pictures_of_a_clip_are_unchanged(clip):
    pytest.importorskip("ray.data", reason="ray[data] is not installed")
    from cu264.ray.clip_decoder import ClipDecoder

    data = cu264.encode(clip, 25, pixel_format="rgb", qp=4)
    with ClipDecoder(data) as decoder:
        pictures = np.concatenate([array for array, _ in decoder.chunks()])
    assert len(pictures) == len(clip)
