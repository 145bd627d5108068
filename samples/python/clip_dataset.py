#!/usr/bin/env python3
"""A data set of clips, written and read in random order: clip_dataset.py FOLDER [CLIPS] [PICTURES]

Every picture stands on its own, so a training job that wants single frames decodes these and no others. Frames are read
with PyAV, or with torchcodec if it is installed and PyAV is not.
"""
import pathlib
import random
import sys
import time

import numpy as np

import cu264


def clip(number, pictures, height=144, width=192):
    """A square whose gray level is the picture's number, on a ground whose colour is the clip's."""
    frames = np.empty((pictures, height, width, 3), np.uint8)
    frames[:] = (40 + 37 * number % 160, 90, 200 - 53 * number % 160)
    for i, picture in enumerate(frames):
        picture[40:100, 40:100] = 4 * i % 256
    return frames


def write(folder, clips, pictures):
    for number in range(clips):
        cu264.write_video(folder / f"{number:04}.mp4", clip(number, pictures), fps=30, qp=20)


def pyav_reader(path):
    import av

    container = av.open(str(path), format="mp4")
    stream = container.streams.video[0]
    stream.thread_type = "SLICE"  # threads that work on the next frames would only delay the one that is wanted

    def frame(index):
        container.seek(round(index / stream.average_rate / stream.time_base), stream=stream)
        return next(container.decode(stream)).to_ndarray(format="rgb24")

    return frame


def torchcodec_reader(path):
    from torchcodec.decoders import VideoDecoder

    decoder = VideoDecoder(str(path), dimension_order="NHWC", seek_mode="exact")
    return lambda index: decoder[index].numpy()


def choose_reader():
    try:
        import av  # noqa: F401

        return pyav_reader
    except ImportError:
        return torchcodec_reader


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    clips, pictures = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 8), (3, 60)))
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, clips, pictures)
    readers = [choose_reader()(folder / f"{number:04}.mp4") for number in range(clips)]
    wanted = [(random.randrange(clips), random.randrange(pictures)) for _ in range(200)]
    begin = time.perf_counter()
    wrong = 0
    for number, index in wanted:
        frame = readers[number](index)
        wrong += abs(int(frame[70, 70, 1]) - 4 * index % 256) > 8
    took = (time.perf_counter() - begin) / len(wanted)
    print(f"{len(wanted)} random frames of {clips} clips, {1000 * took:.2f} ms each, {wrong} wrong")
    sys.exit(wrong > 0)
