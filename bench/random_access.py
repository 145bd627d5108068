#!/usr/bin/env python3
"""Times random frames of a file: cu264's, in which every picture stands on its own, beside x264's default GOP.

    bench/random_access.py --video CLIP [--pictures 1000] [--frames 1000] [--width 640]

The clip is decoded with PyAV, scaled, and repeated with a slow pan until there are enough pictures. --qp and --crf set
the quality of the two files. Frames are read with PyAV (seek, then decode up to the frame) and, where it is installed,
with torchcodec.
The cu264 package must be importable.
"""
import argparse
import os
import pathlib
import random
import tempfile
import time

import av
import numpy as np

import cu264


def pictures_of(path, count, width):
    with av.open(path) as file:
        stream = file.streams.video[0]
        height = round(width * stream.height / stream.width / 2) * 2
        scaled = [frame.reformat(width, height, "rgb24").to_ndarray() for frame in file.decode(stream)]
    for i in range(count):
        yield np.roll(scaled[i % len(scaled)], 2 * (i // len(scaled)), axis=1)


def write_cu264(path, pictures, qp):
    with cu264.VideoWriter(path, 25, qp=qp, profile="baseline") as video:
        for picture in pictures:
            video.write(picture)


def write_x264(path, pictures, crf):
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", 25, options={"preset": "medium", "crf": str(crf)})
        stream.pix_fmt = "yuv420p"
        for i, picture in enumerate(pictures):
            if i == 0:
                stream.height, stream.width = picture.shape[:2]
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())


def mean_psnr(path, pictures):
    """Returns the PSNR of luma, averaged over the first pictures."""
    errors = []
    with av.open(str(path)) as file:
        for frame, picture in zip(file.decode(file.streams.video[0]), pictures):
            original = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format="yuv420p").to_ndarray()
            luma = slice(0, picture.shape[0])
            errors.append(np.mean((frame.to_ndarray()[luma].astype(float) - original[luma]) ** 2))
    return float(np.mean(10 * np.log10(255**2 / np.array(errors))))


def pyav_reader(path, threads):
    container = av.open(str(path))
    stream = container.streams.video[0]
    stream.thread_type = threads

    def read(index):
        wanted = round(index / stream.average_rate / stream.time_base)
        container.seek(wanted, stream=stream)
        for frame in container.decode(stream):
            if frame.pts >= wanted:
                return frame.to_ndarray(format="rgb24")
        raise IndexError(index)

    return read


def torchcodec_reader(path):
    from torchcodec.decoders import VideoDecoder

    decoder = VideoDecoder(str(path))
    return lambda index: decoder[index].numpy()


def timed(read, wanted):
    read(wanted[0])
    begin = time.perf_counter()
    for index in wanted:
        read(index)
    return 1000 * (time.perf_counter() - begin) / len(wanted)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--video", required=True)
    parser.add_argument("--pictures", type=int, default=1000)
    parser.add_argument("--frames", type=int, default=1000)
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--qp", type=int, default=27)
    parser.add_argument("--crf", type=int, default=23)
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="random-access-"))
    wanted = [random.Random(1).randrange(arguments.pictures) for _ in range(arguments.frames)]
    readers = [
        ("PyAV, slice threads", lambda path: pyav_reader(path, "SLICE")),
        ("PyAV, frame threads", lambda path: pyav_reader(path, "FRAME")),
    ]
    try:
        import torchcodec  # noqa: F401

        readers.append(("torchcodec", torchcodec_reader))
    except Exception as error:  # not installed, or no FFmpeg that it can use
        print(f"torchcodec is left out: {str(error).splitlines()[0]}")
    files = [
        (f"cu264 balanced, QP {arguments.qp}", "cu264.mp4", lambda path, p: write_cu264(path, p, arguments.qp)),
        (f"libx264 medium, CRF {arguments.crf}", "x264.mp4", lambda path, p: write_x264(path, p, arguments.crf)),
    ]
    print(f"{arguments.video}, {arguments.pictures} pictures, {arguments.width} wide; {os.cpu_count()} cores; "
          f"{arguments.frames} random frames")
    print("\n| file | MB | PSNR-Y | " + " | ".join(f"{name}, ms a frame" for name, _ in readers) + " |")
    print("|---|---:|---:|" + "---:|" * len(readers))
    for name, file, write in files:
        path = folder / file
        write(path, pictures_of(arguments.video, arguments.pictures, arguments.width))
        psnr = mean_psnr(path, pictures_of(arguments.video, 50, arguments.width))
        times = [timed(reader(path), wanted) for _, reader in readers]
        cells = [name, f"{path.stat().st_size / 1e6:.2f}", f"{psnr:.1f}", *(f"{time:.2f}" for time in times)]
        print(f"| {' | '.join(cells)} |", flush=True)
        path.unlink()
    folder.rmdir()


if __name__ == "__main__":
    main()
