"""Objects among threads, processes and at the end of the interpreter; thread_stress.py is the long run."""

import os
import pathlib
import subprocess
import sys

import pytest

import thread_stress

HERE = pathlib.Path(__file__).parent
SETUP = """
import gc, os, signal, sys, threading, time
import numpy as np
import cu264
frames = np.random.default_rng(1).integers(0, 256, (8, 120, 160, 3), dtype=np.uint8)
gray = np.ascontiguousarray(frames[..., 0])
def forever(action):
    def run():
        while True:
            action()
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread
"""


@pytest.fixture(scope="module", autouse=True)
def needs_pyav():
    pytest.importorskip("av", reason="PyAV is not installed")


@pytest.mark.parametrize("stress", thread_stress.STRESSES, ids=lambda each: each.__name__)
def test_threads(stress):
    for _ in range(2):
        stress()


def run(program, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path]), "PYTHONFAULTHANDLER": "1"}
    result = subprocess.run([sys.executable, "-c", SETUP + program, *map(str, arguments)], capture_output=True, text=True,
                            timeout=60, env=environment)
    assert result.returncode == 0, (result.returncode, result.stderr[-2000:])
    assert "Fatal" not in result.stderr and "terminate" not in result.stderr, result.stderr[-2000:]
    return result.stdout


DAEMONS = {
    "an encoder": "e = cu264.Encoder(25, preset='best')\nforever(lambda: e.send(frames))",
    "many encoders": "forever(lambda: list(cu264.Encoder(25).packets(frames)))",
    "a writer": "v = cu264.VideoWriter(sys.argv[1], 25)\nforever(lambda: v.write(frames))",
    "writers": "forever(lambda: cu264.write_video(sys.argv[1] + '2', frames, 25, container='mkv'))",
    "a stream": "s = cu264.StreamEncoder(25)\nforever(lambda: s.encode(frames))",
    "a detector": "d = cu264.edges.Detector()\nforever(lambda: d.detect(gray))",
    "a group": "g = cu264.StreamGroup()\ns = g.open(25)\nforever(lambda: s.submit(frames[0]))\n"
    "forever(lambda: g.receive_any())",
    "files": "import io\nforever(lambda: cu264.vle.compress_file(io.BytesIO(bytes(10**6)), io.BytesIO()))",
}


@pytest.mark.parametrize("name", DAEMONS)
def test_the_interpreter_ends_while_daemons_work(tmp_path, name):
    program = "for _ in range(3):\n" + "".join(f"    {line}\n" for line in DAEMONS[name].splitlines())
    for pause in (0, 0.2):
        run(program + f"time.sleep({pause})", tmp_path / "clip.mp4")
        left = [path.name for path in tmp_path.iterdir() if path.name != "clip.mp42"]
        assert not left, left


def test_objects_that_are_left_to_the_end(tmp_path):
    run("""
e = cu264.Encoder(25); e.send(frames)
v = cu264.VideoWriter(sys.argv[1], 25); v.write(frames)
s = cu264.StreamEncoder(25); s.encode(frames)
g = cu264.StreamGroup(); c = g.open(25); c.submit(frames[0])
p = cu264.Encoder(25).packets(frames); next(p)
for each in (e, v, s, g, c, p):
    each.itself = each
sys.modules['kept'] = (e, v, s, g, c, p)
""", tmp_path / "clip.mp4")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("end", ["sys.exit(0)", "os._exit(0)", "del e, v, g, c, d; gc.collect(); sys.exit(0)", "pass"])
def test_a_forked_child_ends(tmp_path, end):
    run(f"""
e = cu264.Encoder(25); e.send(frames)
v = cu264.VideoWriter(sys.argv[1], 25); v.write(frames)
g = cu264.StreamGroup(); c = g.open(25); c.submit(frames[0])
d = cu264.edges.Detector(); d.detect(gray)
busy = cu264.Encoder(25)
forever(lambda: busy.send(frames))
time.sleep(0.1)
for _ in range(3):
    child = os.fork()
    if child == 0:
        signal.alarm(15)
        for use in (lambda: e.send(frames), lambda: v.write(frames), v.close, lambda: c.submit(frames[0]), c.receive,
                    lambda: g.receive_any(1), lambda: g.open(25).submit(frames[0]), lambda: d.detect(gray)):
            try:
                use()
                os._exit(9)
            except RuntimeError as error:
                assert "forked" in str(error)
        {end}
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
v.write(frames); v.close()
assert len(list(cu264.Encoder(25).packets(frames))) == 8
""", tmp_path / "clip.mp4")
    assert [path.name for path in tmp_path.iterdir()] == ["clip.mp4"]


def test_a_child_encodes_by_itself(tmp_path):
    """Also after its parent has encoded, as workers that were forked do."""
    run("""
expected = cu264.encode(frames, 25)
for _ in range(2):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        os._exit(0 if cu264.encode(frames, 25) == expected else 9)
    assert os.waitpid(child, 0)[1] == 0
""")
