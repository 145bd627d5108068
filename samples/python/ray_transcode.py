#!/usr/bin/env python3
"""Makes a Parquet data set of all-intra clips, on a Ray cluster: ray_transcode.py CLIPS_FOLDER PARQUET_FOLDER

Each row has a clip's bytes, the path that it came from and what the stage says about it. RAY_ADDRESS names the cluster;
without it Ray takes the one on this machine, or starts one. To write each clip to a file, use `python -m cu264.ray
transcode`.
"""

import sys

import pyarrow.parquet
import ray

import cu264.ray


def main(clips, table):
    ray.init(ignore_reinit_error=True)
    dataset = ray.data.read_binary_files(clips, include_paths=True, file_extensions=["mp4", "mkv", "mov", "webm"])
    cu264.ray.encode_clips(dataset, qp=24, preset="fast").write_parquet(table)
    rows = pyarrow.parquet.read_table(table, columns=["path", "status", "error", "frames", "bytes"]).to_pylist()
    for row in rows:
        if row["status"] == "failed":
            print(f"{row['path']}: {row['error']}", file=sys.stderr)
    print(
        f"{len(rows)} clips, {sum(row['frames'] for row in rows)} pictures, {sum(row['bytes'] for row in rows)} bytes"
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
