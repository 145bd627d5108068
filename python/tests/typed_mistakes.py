"""Mistakes that type checkers must find: each line with `# wrong` is one. test_types.py counts them; nobody runs it."""

import numpy as np

import cu264

frames = np.zeros((4, 32, 48, 3), np.uint8)
cu264.encode(frames, 25, qp="24")  # wrong
cu264.encode(frames, 25, quality=3)  # wrong
cu264.encode(frames, 25, deblock="off")  # wrong
cu264.encode(frames)  # wrong
cu264.write_video(3, frames, 25)  # wrong
cu264.write_video("clip.mp4", 5, 25)  # wrong
cu264.write_video("clip.mp4", frames, 25, progress=3)  # wrong
cu264.VideoWriter("clip.mp4", 25, presett="fast")  # wrong
cu264.Encoder(25).reconfigure(slices=2)  # wrong
cu264.Encoder(25, layout=3)  # wrong
cu264.StreamGroup().open(25, threads=3)  # wrong
cu264.StreamEncoder(25).encode(frames).data  # wrong
cu264.edges.detect(frames, noise="8")  # wrong
cu264.compat.export_to_video(frames, fps=25, bitrate=[5])  # wrong
