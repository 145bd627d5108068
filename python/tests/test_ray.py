"""Clips on a Ray cluster: the stage, folders, the command, and a node that is killed."""

import hashlib
import json
import os
import pathlib
import runpy
import sys
import threading
import time

import numpy as np
import pytest

import cu264

pytest.importorskip("av", reason="PyAV is not installed")
ray = pytest.importorskip("ray", reason="ray[data] is not installed: pip install -r python/tests/requirements-ray.txt")
pytest.importorskip("ray.data", reason="ray[data] is not installed: pip install -r python/tests/requirements-ray.txt")

import pyarrow.parquet  # noqa: E402

import cu264.ray as clusters  # noqa: E402
from cu264.ray import __main__ as command  # noqa: E402
from cu264.ray import clip_stage  # noqa: E402
from cu264.ray.transcode_job import check_ledger  # noqa: E402

SETTINGS = {"qp": 28, "preset": "fast"}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


@pytest.fixture(scope="module")
def source(clip):
    return cu264.encode(clip, 25, qp=12)


@pytest.fixture
def stage(tmp_path):
    return clusters.ClipStage(clusters.ClipStore(str(tmp_path / "out")), settings=SETTINGS)


def write_clips(folder, source, count):
    for i in range(count):
        path = folder / f"{i % 3}/clip {i}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source)


# Folders.


@pytest.mark.parametrize("scheme", ["", "file://", "local://"])  # pyarrow's, pyarrow's by URI, fsspec's
def test_a_store(tmp_path, scheme):
    if scheme == "local://":
        pytest.importorskip("fsspec")
    store = clusters.ClipStore(scheme + str(tmp_path / "store"))
    assert not store.exists() and store.files() == [] and store.find("a.mp4") is None and store.read("a.mp4") is None
    store.put("b/c d.mp4", b"one", "run")
    store.put("a.txt", b"two", "run")
    before = store.find("b/c d.mp4")
    store.put("b/c d.mp4", b"three", "run")
    assert store.read("b/c d.mp4") == b"three" and store.find("b/c d.mp4") != before
    assert [file.name for file in store.files()] == ["a.txt", "b/c d.mp4"]
    assert [file.name for file in store.files([".mp4"])] == ["b/c d.mp4"]
    with store.open("b/c d.mp4") as file:
        file.seek(2)
        assert file.read() == b"ree"
    for name in ("/etc/a.mp4", "../a.mp4", "a/../../b.mp4"):
        with pytest.raises(ValueError, match="must be a relative path"):
            store.put(name, b"", "run")
    assert store.clear_temporary("run") == 0
    left = tmp_path / "store/_cu264/temporary/run/1"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    assert store.clear_temporary("run") == 1 and not left.exists() and store.clear_temporary("other") == 0
    single = clusters.ClipStore(scheme + str(tmp_path / "store/b/c d.mp4"))
    assert [file.name for file in single.files()] == ["c d.mp4"] and single.read("c d.mp4") == b"three"


def test_a_store_in_memory_through_fsspec():
    fsspec = pytest.importorskip("fsspec")
    store = clusters.ClipStore("clips", fsspec.filesystem("memory"))
    store.put("a.mp4", b"data", "run")
    assert store.read("a.mp4") == b"data" and [file.name for file in store.files()] == ["a.mp4"]


def test_folders_in_each_other_are_refused(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "in")
    for out in ("in", "in/out", ".", "link/out"):
        with pytest.raises(ValueError, match="must not lie in each other"):
            clusters.transcode(str(tmp_path / "in"), str(tmp_path / out))
    with pytest.raises(FileNotFoundError, match="no such folder"):
        clusters.transcode(str(tmp_path / "gone"), str(tmp_path / "out"))
    for name in ("a.mkv", "a.mp4"):
        (tmp_path / "in" / name).write_bytes(b"")
    with pytest.raises(ValueError, match="a.mkv and a.mp4 would both be written to a.mp4"):
        clusters.transcode(str(tmp_path / "in"), str(tmp_path / "out"))
    with pytest.raises(ValueError, match="fsspec|Protocol not known"):
        clusters.ClipStore("nonsense://x")


# The stage.


def test_a_batch_of_each_kind(clip, source, tmp_path):
    path = tmp_path / "clip.mp4"
    path.write_bytes(source)
    stage = clusters.ClipStage(settings=SETTINGS)
    expected = clusters.transcode_clip(source, **SETTINGS).data
    for column in (
        {"bytes": np.array([source, b"no film"], object)},
        {"path": np.array([str(path), "/gone.mp4"], object)},
    ):
        out = stage({**column, "label": np.array([7, 8])})
        assert list(out["label"]) == [7, 8] and list(out["status"]) == ["encoded", "failed"]
        assert out["clip"][0] == expected and out["clip"][1] is None
        assert out["sha256"][0] == sha256(expected) and out["frames"][0] == 9 and out["bytes"][0] == len(expected)
        assert out["error"][0] == "" and out["error"][1] and out["backend"][0] == "cpu"
    out = stage({"frames": clip[None], "fps": np.array([30])})
    assert out["clip"][0] == cu264.encode(clip, 30, **SETTINGS)
    assert "fps=" in stage({"frames": clip[None]})["error"][0]
    assert clusters.ClipStage(settings={**SETTINGS, "fps": 30})({"frames": clip[None]})["clip"][0] == out["clip"][0]


def test_a_batch_may_be_tried_again(source, stage, tmp_path):
    batch = {"name": np.array(["a/b.mkv"], object), "bytes": np.array([source], object)}
    first = stage(dict(batch))
    out = tmp_path / "out/a/b.mp4"
    assert (
        first["status"][0] == "encoded"
        and first["output"][0] == str(out)
        and sha256(out.read_bytes()) == first["sha256"][0]
    )
    written = out.stat().st_mtime_ns
    again = stage(dict(batch))
    assert again["status"][0] == "present" and out.stat().st_mtime_ns == written
    assert all(again[key][0] == first[key][0] for key in ("commit", "sha256", "bytes", "frames", "output", "worker"))

    # A worker that died between the clip and its record, a clip that is gone, one that was cut, other settings, another
    # input.
    record = tmp_path / "out/_cu264/records/a/b.mp4.json"
    for damage in (record.unlink, out.unlink, lambda: out.write_bytes(b"half"), lambda: record.write_bytes(b"\0" * 9)):
        damage()
        assert stage(dict(batch))["status"][0] == "encoded" and sha256(out.read_bytes()) == first["sha256"][0]
        assert stage(dict(batch))["status"][0] == "present"
    other = clusters.ClipStage(clusters.ClipStore(str(tmp_path / "out")), settings={**SETTINGS, "qp": 40})
    assert other(dict(batch))["status"][0] == "encoded"
    assert stage({**batch, "bytes": np.array([source[:-1]], object)})["status"][0] != "present"
    threads = clusters.ClipStage(clusters.ClipStore(str(tmp_path / "out")), settings={**SETTINGS, "threads": 2})
    stage(dict(batch))
    assert threads(dict(batch))["status"][0] == "present"
    assert not list((tmp_path / "out/_cu264/temporary").rglob("*/*"))


def test_a_worker_killed_while_it_writes_leaves_no_half_clip(source, stage):
    child = os.fork()
    if child == 0:
        stage._output._fs = Dying(stage._output._fs)
        stage({"name": np.array(["a.mp4"], object), "bytes": np.array([source], object)})
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert stage._output.files() == [] and stage._output.clear_temporary(stage._run) == 1


class Dying:
    """A file system whose process ends before a rename."""

    def __init__(self, fs):
        self._fs = fs

    def move(self, *_):
        os._exit(9)

    def __getattr__(self, name):
        return getattr(self._fs, name)


def test_a_file_system_that_fails_is_asked_again(source, stage, monkeypatch):
    put, failures = stage._output.put, [OSError("slow down"), OSError("slow down")]

    def failing(*arguments):
        if failures:
            raise failures.pop()
        put(*arguments)

    monkeypatch.setattr(stage._output, "put", failing)
    monkeypatch.setattr(clip_stage.time, "sleep", lambda _: None)
    row = {"name": "a.mp4", "bytes": source}
    assert stage.process(row)["status"] == "encoded" and not failures
    failures += [OSError("no space")] * 3
    assert stage.process({**row, "name": "b.mp4"})["error"] == "OSError: no space"


def test_a_gpu_that_fails_is_replaced_by_the_processor(source, monkeypatch):
    stage = clusters.ClipStage(gpu=True, settings=SETTINGS)
    if cu264.probe().backend == "cpu":
        assert stage._settings["backend"] == "cpu"
    stage._settings["backend"] = "cuda"  # as on a machine with a GPU
    asked = []

    def fail_on_cuda(data, **settings):
        asked.append(settings["backend"])
        if settings["backend"] == "cuda":
            raise RuntimeError("out of memory on device 0")
        return clusters.transcode_clip(data, **settings)

    monkeypatch.setattr(clip_stage, "transcode_clip", fail_on_cuda)
    result = stage.process({"bytes": source})
    assert asked == ["cuda", "cpu"] and result["backend"] == "cpu" and result["status"] == "encoded"
    stage = clusters.ClipStage(gpu=True, settings={**SETTINGS, "backend": "cuda"})
    assert stage.process({"bytes": source})["error"] == "RuntimeError: out of memory on device 0"


def test_metrics(source, stage, monkeypatch):
    counted = []
    monkeypatch.setattr(
        stage._clips, "inc", lambda value=1.0, tags=None: counted.append(("clips", value, tags["status"]))
    )
    monkeypatch.setattr(stage._frames, "inc", lambda value, tags: counted.append(("frames", value, tags["backend"])))
    for _ in range(2):
        stage.process({"name": "a.mp4", "bytes": source})
    stage.process({"name": "b.mp4", "bytes": b""})
    assert counted == [
        ("clips", 1.0, "encoded"),
        ("frames", 9, "cpu"),
        ("clips", 1.0, "present"),
        ("clips", 1.0, "failed"),
    ]


def test_the_ledger_shows_what_is_lost_and_what_is_there_twice(tmp_path):
    store = clusters.ClipStore(str(tmp_path))
    for name in "abc":
        store.put(f"{name}.mp4", b"12", "run")
    files = [clusters.clip_store.ClipFile(f"{name}.mp4", 1, "") for name in "abcd"]
    row = {"status": "encoded", "bytes": 2, "frames": 1, "error": ""}
    rows = [{**row, "name": f"{name}.mp4", "output": store.path(f"{name}.mp4")} for name in "abc"]
    summary = check_ledger(files, rows, store)
    assert summary.lost == ["d.mp4"] and not summary.twice and not summary.ok and summary.encoded == 3
    summary = check_ledger(files[:3], [*rows, rows[1]], store)
    assert summary.twice == ["b.mp4"] and not summary.lost and not summary.ok
    store.put("c.mp4", b"1", "run")
    assert check_ledger(files[:3], rows, store).lost == ["c.mp4"]
    store.put("c.mp4", b"12", "run")
    assert check_ledger(files[:3], rows, store).ok


@pytest.mark.parametrize(
    "settings, kind, text",
    [
        ({"qp": 99}, ValueError, "0 to 51"),
        ({"quality": 3}, TypeError, "unexpected keyword"),
        ({"container": "avi"}, ValueError, "mp4, fmp4, h264"),
        ({"backend": "cuda", "num_gpus": 0}, ValueError, "say num_gpus="),
    ],
)
def test_mistakes_show_before_anything_runs(settings, kind, text):
    with pytest.raises(kind, match=text):
        clusters.encode_clips(None, **settings)
    with pytest.raises(TypeError, match="fps= is for frames"):
        clusters.transcode("in", "out", fps=25)


# A cluster of three nodes.


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    path = os.pathsep.join(part for part in sys.path if part)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)  # of the workers
        patch.setenv("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
        memory = 80 << 20
        try:
            nodes = Cluster(
                initialize_head=True,
                head_node_args={"num_cpus": 1, "include_dashboard": False, "object_store_memory": memory},
            )
            nodes.killable = [nodes.add_node(num_cpus=1, object_store_memory=memory) for _ in range(2)]
            ray.init(address=nodes.address, log_to_driver=False)
        except Exception as error:  # not every machine lets Ray have the ports and the shared memory it wants
            pytest.skip(f"Ray cannot start a cluster here: {str(error)[:200]}")
        yield nodes
        ray.shutdown()
        nodes.shutdown()


class SlowStage(clusters.ClipStage):
    """Gives the test time to kill a node."""

    def encode(self, row):
        time.sleep(0.1)
        return super().encode(row)


def test_a_node_that_is_killed_loses_nothing(cluster, source, tmp_path):
    write_clips(tmp_path / "in", source, 96)
    (tmp_path / "in/notes.txt").write_text("not a clip")
    records = tmp_path / "out/_cu264/records"

    def kill():
        while sum(len(names) for _, _, names in os.walk(records)) < 24:
            time.sleep(0.05)
        cluster.remove_node(cluster.killable.pop(), allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not have the tests' folder
    summary = clusters.transcode(
        str(tmp_path / "in"), str(tmp_path / "out"), workers=3, batch_size=4, stage=SlowStage, **SETTINGS
    )
    killer.join()
    assert summary.ok and summary.clips == summary.encoded + summary.present == 96, summary
    lines = [json.loads(line) for line in (tmp_path / "out/_cu264/ledger.jsonl").read_text().splitlines()]
    assert len({line["name"] for line in lines}) == len({line["commit"] for line in lines}) == len(lines) == 96
    assert len({line["node"] for line in lines}) >= 2
    expected = sha256(clusters.transcode_clip(source, **SETTINGS).data)
    files = list((tmp_path / "out").rglob("*.mp4"))
    assert len(files) == 96 and {sha256(path.read_bytes()) for path in files} == {expected}
    assert not [path for path in (tmp_path / "out/_cu264/temporary").rglob("*") if path.is_file()]


def test_the_command(cluster, source, tmp_path, capsys):
    write_clips(tmp_path / "in", source, 3)
    arguments = [
        "transcode",
        str(tmp_path / "in"),
        "local://" + str(tmp_path / "out"),
        "--set",
        "qp=28",
        "--set",
        "preset=fast",
    ]
    pytest.importorskip("fsspec")
    (tmp_path / "in/broken.mkv").write_bytes(b"no film")
    assert command.main(arguments) == 1
    printed = capsys.readouterr()
    assert "4 clips: 3 encoded, 0 there already, 1 failed" in printed.out and "broken.mkv: " in printed.err
    (tmp_path / "in/broken.mkv").unlink()
    assert command.main(arguments) == 0
    assert "3 clips: 0 encoded, 3 there already" in capsys.readouterr().out
    assert command.main([*arguments, "--set", "qp=52"]) == 2 and "0 to 51" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main([*arguments, "--set", "qp"])


def test_a_data_set_of_frames(cluster, clip):
    items = [{"frames": np.roll(clip, i, axis=2), "fps": 25, "label": i} for i in range(3)]
    dataset = clusters.encode_clips(ray.data.from_items(items), num_gpus=0, batch_size=2, **SETTINGS)
    rows = sorted(dataset.take_all(), key=lambda row: row["label"])
    assert [row["clip"] for row in rows] == [cu264.encode(item["frames"], 25, **SETTINGS) for item in items]


def test_the_sample(cluster, source, tmp_path, capsys):
    path = pathlib.Path(__file__).resolve().parents[2] / "samples/python/ray_transcode.py"
    if not path.is_file():
        pytest.skip("the samples are not here")
    write_clips(tmp_path / "in", source, 2)
    runpy.run_path(str(path))["main"](str(tmp_path / "in"), str(tmp_path / "table"))
    clip = clusters.transcode_clip(source, qp=24, preset="fast").data
    assert f"2 clips, 18 pictures, {2 * len(clip)} bytes" in capsys.readouterr().out
    rows = pyarrow.parquet.read_table(tmp_path / "table").to_pylist()
    assert [row["clip"] for row in rows] == [clip, clip] and {row["path"][-10:] for row in rows} == {
        "clip 0.mp4",
        "clip 1.mp4",
    }
