#!/usr/bin/env python3
"""Many simulated cameras in one group: many_cameras.py FOLDER [CAMERAS] [PICTURES]

Each camera has a thread that submits its pictures as they come; one thread takes all packets and writes each stream to
a file. A camera that is faster than the encoder waits in submit, and nobody else.
"""
import pathlib
import sys
import threading
import time

import numpy as np

import cu264

HEIGHT, WIDTH = 120, 160


def camera(number, stream, pictures):
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.uint8)
    for i in range(pictures):
        picture = np.stack([x + 3 * i, y + np.uint8(number), x + y], axis=-1).astype(np.uint8)
        stream.submit(picture)
    stream.flush()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    cameras, pictures = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 64), (3, 30)))
    folder.mkdir(parents=True, exist_ok=True)
    group = cu264.StreamGroup()
    streams = [group.open(fps=30, qp=28, preset="fast", headers="every") for _ in range(cameras)]
    files = {stream: open(folder / f"camera{i:02}.264", "wb") for i, stream in enumerate(streams)}
    begin = time.perf_counter()
    threads = [threading.Thread(target=camera, args=(i, stream, pictures)) for i, stream in enumerate(streams)]
    for thread in threads:
        thread.start()
    for _ in range(cameras * pictures):
        stream, packet, error = group.receive_any(timeout=60)
        if error:
            raise error
        files[stream].write(packet.data)
    for thread in threads:
        thread.join()
    for file in files.values():
        file.close()
    took = time.perf_counter() - begin
    print(f"{cameras} cameras, {cameras * pictures / took:.0f} pictures a second on {streams[0].backend}")
