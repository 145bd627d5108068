"""cu264.edges: against the command, and on pictures whose edges are known."""

import os
import subprocess

import numpy as np
import pytest

import cu264


def square_picture():
    """A bright square on a dark ground: columns 32 to 63, rows 24 to 71."""
    picture = np.full((96, 128), 40, np.uint8)
    picture[24:72, 32:64] = 200
    return picture


def noisy_pictures(count=3):
    y, x = np.mgrid[:96, :128]
    waves = 120 + 60 * np.sin(x / 9) * np.cos(y / 7)
    return np.clip(waves + np.random.default_rng(1).normal(0, 6, (count, 96, 128)), 0, 255).astype(np.uint8)


def test_the_outline_of_a_square():
    edges = cu264.edges.detect(square_picture(), thresholds=(10, 30))
    assert edges.dtype == np.uint8 and edges.shape == (96, 128) and set(np.unique(edges)) == {0, 255}
    rows, columns = np.nonzero(edges)
    inside = (rows > 27) & (rows < 68) & (columns > 35) & (columns < 60)
    outside = (rows < 21) | (rows > 74) | (columns < 29) | (columns > 66)
    assert not inside.any() and not outside.any()
    for row in range(30, 66):  # the left and the right side cross each of these
        assert edges[row, 29:36].any() and edges[row, 60:67].any()
    assert not cu264.edges.detect(np.full((64, 64), 90, np.uint8)).any()


def test_batches_strides_and_out():
    pictures = noisy_pictures()
    detector = cu264.edges.Detector(partition="frame", candidates=range(1, 26, 3), sigma=1.2)
    expected = np.stack([detector.detect(picture) for picture in pictures])
    assert expected.any() and not np.array_equal(expected[0], expected[1])
    assert np.array_equal(detector.detect(pictures), expected)
    wide = np.zeros((3, 96, 200), np.uint8)
    wide[:, :, 20:148] = pictures
    out = np.empty((3, 96, 128), np.uint8)
    assert detector.detect(wide[:, :, 20:148], out) is out
    assert np.array_equal(out, expected)
    assert np.array_equal(detector.detect(pictures[:, :64, :64]), [detector.detect(p[:64, :64]) for p in pictures])


def test_thresholds():
    detector = cu264.edges.Detector()
    maps, thresholds = detector.detect_with_thresholds(noisy_pictures(2))
    assert maps.shape == (2, 96, 128)
    assert [len(each) for each in thresholds] == [4, 4]  # stripes of 32 columns
    assert all(1 <= low <= high <= 25 for each in thresholds for low, high in each)
    fixed, found = cu264.edges.Detector(thresholds=(5, 12)).detect_with_thresholds(noisy_pictures(1))
    assert set(found[0]) == {(5, 12)} and fixed.any()
    assert not cu264.edges.detect(np.full((64, 64), 90, np.uint8), thresholds=(5, 12)).any()


def test_the_command_finds_the_same(tmp_path):
    command = os.environ.get("CU264")
    if not command:
        pytest.skip("CU264 does not name the command")
    picture = noisy_pictures(1)[0]
    (tmp_path / "in.pgm").write_bytes(b"P5\n128 96\n255\n" + picture.tobytes())
    subprocess.run([command, "edges", tmp_path / "in.pgm", "-o", tmp_path / "out.pgm"], check=True)
    written = (tmp_path / "out.pgm").read_bytes()
    assert np.array_equal(np.frombuffer(written[-128 * 96:], np.uint8).reshape(96, 128), cu264.edges.detect(picture))


def test_bad_input():
    picture = square_picture()
    frozen = np.zeros_like(picture)
    frozen.flags.writeable = False
    for kind, text, call in [
        (ValueError, "shape \\(H, W\\)", lambda: cu264.edges.detect(np.zeros((2, 3, 4, 5), np.uint8))),
        (ValueError, "shape \\(H, W\\)", lambda: cu264.edges.detect(None)),
        (TypeError, "uint8", lambda: cu264.edges.detect(picture.astype(np.float32))),
        (TypeError, "out=", lambda: cu264.edges.detect(memoryview(picture))),
        (ValueError, "out must have the shape", lambda: cu264.edges.detect(picture, picture[:3])),
        (ValueError, "writable", lambda: cu264.edges.detect(picture, frozen)),
        (ValueError, "writable", lambda: cu264.edges.detect(picture, np.zeros((96, 256), np.uint8)[:, ::2])),
        (ValueError, "writable", lambda: cu264.edges.detect(picture, np.zeros((96, 128), np.float32))),
        (ValueError, "columns, rows or frame", lambda: cu264.edges.detect(picture, partition="tiles")),
        (ValueError, "sigma", lambda: cu264.edges.detect(picture, sigma=9)),
        (ValueError, "auto, cuda or cpu", lambda: cu264.edges.detect(picture, backend="gpu")),
    ]:
        with pytest.raises(kind, match=text):
            call()


def test_edges_guide_the_encoder():
    pictures = np.full((5, 64, 128), 100, np.uint8)
    pictures[:, 10:50, 8:40] = 180
    pictures[:, :, 64:] = (100 + 10 * np.sin(np.arange(64) / 9)).astype(np.uint8)

    def coded(**settings):
        return cu264.encode(pictures, 25, container="h264", backend="cpu", qp=30, **settings)

    guided = coded(edge_guided=2)
    assert coded(aq="edges") == guided == coded(aq="edges", aq_strength=2, edge_thresholds="distributed")
    others = [coded(), coded(aq="steps"), coded(aq="steps", aq_strength=1), coded(edge_guided=1),
              coded(edge_guided=2, edge_thresholds="0.9,1")]
    assert len({guided, *others}) == 6
