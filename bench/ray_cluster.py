#!/usr/bin/env python3
"""Transcodes many small clips on a Ray cluster of three nodes on this machine, and kills one in the middle.

    bench/ray_cluster.py loss [--clips 10000] [--folder DIR]    what is in the ledger and in the folder afterwards
    bench/ray_cluster.py workers [--clips 96] [--tries 3]      one worker against two, each on a core of its own

Every start of an encoder is counted in a file beside the ledger, so that work that a killed node did in vain shows.
ray[data], PyAV and the cu264 package must be importable.
"""

import argparse
import collections
import hashlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import ray
from ray.cluster_utils import Cluster

import cu264
import cu264.ray

FPS = 25
CODING = {"qp": 30, "preset": "fast", "profile": "baseline"}


class CountingStage(cu264.ray.ClipStage):
    """Notes each clip that it begins to code in the file that CU264_BENCH_STARTS names."""

    def encode(self, row):
        line = f"{row['name']} {self._node}\n".encode()
        with open(os.environ["CU264_BENCH_STARTS"], "ab", buffering=0) as starts:
            starts.write(line)  # appended in one write, so lines of several workers do not mix
        return super().encode(row)


def make_clips(folder, clips, pictures, height, width):
    """`clips` files of 32 different contents, each a few pictures; returns the contents' number by file name."""
    contents = []
    y, x = np.mgrid[:height, :width]
    for seed in range(32):
        noise = np.random.default_rng(seed).integers(0, 40, (height, width, 3))
        frames = np.stack(
            [np.stack([x * 3 + seed + i, y * 2 + i, x + y + 7 * seed], -1) + noise for i in range(pictures)]
        )
        contents.append(cu264.encode((frames % 256).astype(np.uint8), FPS, **{**CODING, "qp": 16}))
    of = {}
    for i in range(clips):
        name = f"{i // 1000:03}/{i:06}.mp4"
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(contents[i % len(contents)])
        of[name] = i % len(contents)
    return of, contents


def start_cluster(nodes):
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "include_dashboard": False, "object_store_memory": 200 << 20},
    )
    workers = [cluster.add_node(num_cpus=1, object_store_memory=200 << 20) for _ in range(nodes - 1)]
    ray.init(address=cluster.address, log_to_driver=False)
    return cluster, workers


def loss(args, folder):
    of, contents = make_clips(folder / "in", args.clips, 4, 48, 64)
    starts = folder / "starts"
    os.environ["CU264_BENCH_STARTS"] = str(starts)
    cluster, workers = start_cluster(3)
    records = folder / "out/_cu264/records"
    killed = {}

    def kill():
        while True:
            done = sum(len(names) for _, _, names in os.walk(records))
            if done >= args.clips // 2:
                break
            time.sleep(0.2)
        killed.update(node=workers[-1].node_id, after=done)
        cluster.remove_node(workers[-1], allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    settings = {**CODING, "stage": CountingStage, "workers": 3}
    summary = cu264.ray.transcode(str(folder / "in"), str(folder / "out"), **settings)
    killer.join()
    ledger = [json.loads(line) for line in (folder / "out/_cu264/ledger.jsonl").read_text().splitlines()]
    print(f"A node of three was killed when {killed['after']} of {args.clips} clips were there.")
    print(summary, f"leftovers removed: {summary.leftovers}")
    by_node = collections.Counter(row["node"] for row in ledger)
    print(
        "lines of the ledger by node:",
        sorted(by_node.values(), reverse=True),
        "of the killed one:",
        by_node[killed["node"]],
    )

    lines = collections.Counter(row["name"] for row in ledger)
    commits = collections.Counter(row["commit"] for row in ledger)
    expected = [
        hashlib.sha256(cu264.ray.transcode_clip(data, **CODING).data).hexdigest() for data in contents
    ]
    files = {path.relative_to(folder / "out").as_posix(): path for path in (folder / "out").rglob("*.mp4")}
    wrong = sum(
        hashlib.sha256(files[name].read_bytes()).hexdigest() != expected[content] if name in files else 0
        for name, content in of.items()
    )
    begun = collections.Counter(line.split()[0] for line in starts.read_text().splitlines())
    print(
        f"inputs {len(of)}, lines {sum(lines.values())}, names in lines {len(lines)}, commits {len(commits)}, "
        f"files {len(files)}"
    )
    print(
        f"lost: {len(of.keys() - lines.keys()) + len(of.keys() - files.keys())}; twice in the ledger: "
        f"{sum(count > 1 for count in lines.values())}; files without an input: {len(files.keys() - of.keys())}; "
        f"files whose bytes are not those of an encode on this process: {wrong}; temporary files left: "
        f"{sum(path.is_file() for path in (folder / 'out/_cu264/temporary').rglob('*'))}"
    )
    print(
        f"encodes begun: {sum(begun.values())}, clips begun more than once: "
        f"{sum(count > 1 for count in begun.values())}"
    )
    again = cu264.ray.transcode(str(folder / "in"), str(folder / "out"), **settings)
    print("the same call again:", again)
    print(f"encodes begun by it: {len(starts.read_text().splitlines()) - sum(begun.values())}")
    ray.shutdown()
    cluster.shutdown()
    return summary.ok and not wrong and len(files) == len(of) == len(commits) and again.present == len(of)


def start_separate_nodes(count):
    """Nodes in sessions of their own, because Linux shares a busy machine out by session (sched_autogroup)."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--address", cluster.address]
    command += ["--num-cpus", "1", "--object-store-memory", str(200 << 20)]
    ray.init(address=cluster.address, log_to_driver=False)
    nodes = []
    while len(nodes) < count:
        nodes.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True))
        while ray.cluster_resources().get("CPU", 0) < len(nodes):
            if nodes[-1].poll() is not None:
                raise SystemExit("a node did not start")
            time.sleep(0.5)
    return cluster, nodes


class TimedStage(cu264.ray.ClipStage):
    """Notes time and processor time before and after each batch, in the file that CU264_BENCH_STARTS names."""

    def note(self):
        line = f"{self._worker} {time.monotonic()} {time.process_time()}\n".encode()
        with open(os.environ["CU264_BENCH_STARTS"], "ab", buffering=0) as notes:
            notes.write(line)

    def __call__(self, batch):
        self.note()
        result = super().__call__(batch)
        self.note()
        return result


def workers(args, folder):
    make_clips(folder / "in", args.clips, 25, 288, 352)
    notes = folder / "notes"
    os.environ["CU264_BENCH_STARTS"] = str(notes)
    cluster, nodes = start_separate_nodes(2)
    whole, steady, processor = ({1: [], 2: []} for _ in range(3))
    print("| try | workers | whole call, s | first clip to last, s | processor seconds of each worker | load |")
    print("|---:|---:|---:|---:|---|---:|", flush=True)
    for attempt in range(args.tries):
        for count in (1, 2):
            notes.unlink(missing_ok=True)
            load = os.getloadavg()[0]
            summary = cu264.ray.transcode(
                str(folder / "in"), str(folder / "out"), **{**CODING, "qp": 24}, workers=count, stage=TimedStage
            )
            assert summary.ok, summary
            of = collections.defaultdict(list)
            for line in notes.read_text().splitlines():
                worker, wall, used = line.split()
                of[worker].append((float(wall), float(used)))
            moments = [wall for noted in of.values() for wall, _ in noted]
            used = [noted[-1][1] - noted[0][1] for noted in of.values()]
            whole[count].append(summary.seconds)
            steady[count].append(max(moments) - min(moments))
            processor[count].append(max(used))
            print(
                f"| {attempt + 1} | {count} | {summary.seconds:.1f} | {steady[count][-1]:.1f} | "
                f"{', '.join(f'{seconds:.1f}' for seconds in used)} | {load:.1f} |",
                flush=True,
            )
            shutil.rmtree(folder / "out")
    for name, times in (
        ("the whole call", whole),
        ("first clip to last", steady),
        ("processor time of the worker that had most", processor),
    ):
        print(
            f"two workers against one, {name}: {statistics.median(times[1]) / statistics.median(times[2]):.2f} "
            f"(medians), {min(times[1]) / min(times[2]):.2f} (least)"
        )
    ray.shutdown()
    for node in nodes:
        node.terminate()
        node.wait()
    cluster.shutdown()
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("loss", "workers"))
    parser.add_argument("--clips", type=int)
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--folder", type=pathlib.Path, help="where clips are written (default: a temporary one)")
    args = parser.parse_args()
    args.clips = args.clips or {"loss": 10000, "workers": 96}[args.what]
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        return 0 if {"loss": loss, "workers": workers}[args.what](args, pathlib.Path(folder)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
