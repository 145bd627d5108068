"""The cameras of many simulated environments to files, as Isaac Lab has them: an MP4 for each camera and episode.

    recorder = CameraRecorder("videos", fps=1 / env.step_dt, cameras=range(16), crf=24)
    while running:
        _, _, terminated, truncated, _ = env.step(actions)
        recorder.write(env.scene["tiled_camera"].data.output["rgba"])       # (environments, H, W, 4), on the GPU
        recorder.end((terminated | truncated).nonzero().flatten().tolist())
    recorder.close()

All cameras are encoded in common batches (cu264.StreamGroup), and only what is coded leaves the GPU. Isaac Lab's own
recorder takes the first environment's camera alone. Its "rgb" is a view of "rgba" whose pixels are apart; "rgba" is read
in place, without its fourth channel.
"""
import pathlib
import threading
from fractions import Fraction

import av

import cu264


class CameraRecorder:
    """Writes camera0003_episode0000.mp4 and so on into a folder. One thread calls it.

    `cameras` are all of the first pictures unless they are named; `settings` are those of cu264.StreamGroup.open.
    """

    def __init__(self, folder, fps, cameras=None, backend="auto", **settings):
        self._folder = pathlib.Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._fps = Fraction(fps).limit_denominator(1001)
        self._settings = settings
        self._group = cu264.StreamGroup(backend=backend)
        self._cameras = None if cameras is None else list(cameras)
        self._streams = {}  # by camera
        self._files = {}  # by stream
        self._problem = None
        self._closing = False
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    def write(self, pictures):
        """Takes a picture of each environment. They may be overwritten when this returns."""
        self._raise()
        if self._cameras is None:
            self._cameras = list(range(len(pictures)))
        for camera in self._cameras:
            if camera not in self._streams:
                stream = self._group.open(self._fps, **self._settings)
                self._files[stream] = _Files(self._folder / f"camera{camera:04}", self._fps, pictures[camera].shape)
                self._streams[camera] = stream
            self._streams[camera].submit(pictures[camera])

    def end(self, cameras):
        """Ends the episodes of these cameras: their next pictures begin other files."""
        for camera in cameras:
            if camera in self._streams:
                self._streams[camera].flush()

    def close(self):
        """Completes all files. Raises what went wrong, if something did."""
        self._finish()
        self._raise()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self._finish()
        if kind is None:
            self._raise()

    def _finish(self):
        if self._closing:
            return
        self.end(self._streams)
        self._closing = True
        self._thread.join()
        for stream, files in self._files.items():
            try:
                while self._problem is None and (packet := stream.receive()) is not None:  # None: none is on its way
                    files.mux(packet)
                files.close()
            except Exception as problem:
                self._problem = problem

    def _receive(self):
        # Also after a problem, so that write() does not wait for room.
        while not self._closing:
            result = self._group.receive_any(timeout=0.05)
            if result is None or self._problem is not None:
                continue
            try:
                if result.error is not None:
                    raise result.error
                self._files[result.stream].mux(result.packet)
            except Exception as problem:
                self._problem = problem

    def _raise(self):
        if self._problem is not None:
            raise RuntimeError("the recording is not complete") from self._problem


class _Files:
    """Files of one camera, one after the other."""

    def __init__(self, name, fps, shape):
        self._name = str(name)
        self._fps = fps
        self._height, self._width = shape[:2]
        self._episode = 0
        self._container = None

    def mux(self, packet):
        if packet.pts == 0:
            self.close()
            self._container = av.open(f"{self._name}_episode{self._episode:04}.mp4", "w")
            self._track = self._container.add_mux_stream(
                "h264", rate=self._fps, width=self._width, height=self._height, time_base=1 / self._fps
            )
            self._episode += 1
        muxed = av.Packet(packet.data)
        muxed.pts = muxed.dts = packet.pts
        muxed.duration, muxed.time_base = 1, 1 / self._fps
        muxed.stream, muxed.is_keyframe = self._track, packet.keyframe
        self._container.mux(muxed)

    def close(self):
        if self._container is not None:
            self._container.close()
            self._container = None
