#!/usr/bin/env python3
"""Serves a video while it is made: serve_fragments.py [PORT], then open http://localhost:PORT/ in a browser.

The pictures are drawn by NumPy here; a model that writes chunks of tensors on a GPU is served in the same way.
"""
import http.server
import sys

import numpy as np

import cu264

PAGE = b"<title>cu264</title><video src=/video.mp4 autoplay muted controls></video>"


def chunks(count=10, length=12, height=360, width=640):
    """A square that moves over a gradient: `count` arrays of shape (length, height, width, 3)."""
    y, x = np.mgrid[:height, :width]
    for first in range(0, count * length, length):
        chunk = np.empty((length, height, width, 3), np.uint8)
        for i, picture in enumerate(chunk, first):
            picture[...] = np.stack([x * 255 // width, y * 255 // height, 0 * x + 90], axis=-1)
            picture[100:160, 2 * i:2 * i + 60] = 255
        yield chunk


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        video = self.path == "/video.mp4"
        self.send_response(200)
        self.send_header("Content-Type", "video/mp4" if video else "text/html")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if video:
            stream = cu264.StreamEncoder(fps=24)
            for chunk in chunks():
                self.send_piece(stream.encode(chunk))
            self.send_piece(stream.close())
        else:
            self.send_piece(PAGE)
        self.wfile.write(b"0\r\n\r\n")

    def send_piece(self, data):
        if data:  # an empty piece would end the response
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    with http.server.ThreadingHTTPServer(("localhost", port), Handler) as server:
        print(f"http://localhost:{server.server_address[1]}/", flush=True)
        server.serve_forever()
