"""The examples of docstrings and of the README run as they are printed."""

import doctest
import io
import pathlib
import re
import types
from fractions import Fraction

import numpy as np
import pytest

import cu264

README = pathlib.Path(__file__).parents[1] / "README.md"
DOCUMENTED = [cu264.write_video, cu264.encode, cu264.VideoWriter, cu264.StreamEncoder, cu264.Encoder, cu264.StreamGroup,
              cu264.Audio.encode, cu264.probe, cu264.edges.detect]


@pytest.fixture
def names(clip, tmp_path, monkeypatch):
    """Defines what the examples take for granted."""
    monkeypatch.chdir(tmp_path)
    sent = []
    return {"cu264": cu264, "frames": clip, "chunks": np.split(clip, 3), "picture": clip[0],
            "gray": clip[..., 0].copy(), "waveform": np.zeros((2, 48000), np.float32), "response": types.SimpleNamespace(write=sent.append),
            "send": lambda *packet: sent.append(packet), "sent": sent}


@pytest.mark.parametrize("documented", DOCUMENTED, ids=lambda each: each.__qualname__)
def test_examples_of_docstrings(documented, names):
    if documented == cu264.Audio.encode:
        pytest.importorskip("av", reason="PyAV is not installed")
    examples = doctest.DocTestParser().get_examples(documented.__doc__)
    assert examples
    for example in examples:
        exec(compile(example.source, documented.__qualname__, "exec"), names)


def blocks():
    if not README.exists():
        pytest.skip("the README is not here")
    return re.findall(r"```python\n(.*?)```", README.read_text(), re.S)


def test_the_readmes_first_lines(names):
    exec(blocks()[0], names)
    assert pathlib.Path("clip.mp4").read_bytes() == cu264.encode(names["frames"], 24, qp=24)


def test_the_readmes_packets_for_pyav(names, decode):
    av = pytest.importorskip("av", reason="PyAV is not installed")
    file = io.BytesIO()
    with av.open(file, "w", "mp4") as container:
        exec(blocks()[1], {**names, "av": av, "Fraction": Fraction, "container": container, "width": 98, "height": 66})
    assert decode(file.getvalue()) == decode(cu264.encode(names["frames"], 25))


def test_every_call_in_the_readmes_table_is_there(names):
    if not README.exists():
        pytest.skip("the README is not here")
    import cu264.compat

    for name in re.findall(r"`(cu264(?:\.\w+)+)", README.read_text()):
        found = cu264
        for part in name.split(".")[1:]:
            if part == "ray":  # needs Ray
                break
            found = getattr(found, part)
