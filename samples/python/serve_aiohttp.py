#!/usr/bin/env python3
"""Serves a video while it is made, with aiohttp: serve_aiohttp.py [PORT]

Open http://localhost:PORT/ in a browser then.
A model would make the chunks; NumPy draws them here. Encoding runs beside the event loop, so that one process serves
many viewers. The page tells the server what it has played.
"""
import asyncio
import sys

import numpy as np
from aiohttp import web

import cu264

PAGE = """<!doctype html><title>cu264</title>
<video id=video src=/video.mp4 autoplay muted controls></video>
<script>
video.onended = () => fetch("/played", {method: "POST", body: `${video.videoWidth}x${video.videoHeight}, ` +
    `${video.currentTime.toFixed(2)} s, ${video.getVideoPlaybackQuality().totalVideoFrames} frames`});
video.onerror = () => fetch("/played", {method: "POST", body: "error: " + video.error.message});
</script>"""


async def chunks(count=4, length=12, height=180, width=320):
    """A square that moves over a gradient: `count` arrays of shape (length, height, width, 3)."""
    y, x = np.mgrid[:height, :width]
    for first in range(0, count * length, length):
        chunk = np.empty((length, height, width, 3), np.uint8)
        for i, picture in enumerate(chunk, first):
            picture[...] = np.stack([x * 255 // width, y * 255 // height, 0 * x + 90], axis=-1)
            picture[50:80, 4 * i:4 * i + 30] = 255
        yield chunk
        await asyncio.sleep(0)


async def page(_):
    return web.Response(text=PAGE, content_type="text/html")


async def video(request):
    response = web.StreamResponse(headers={"Content-Type": "video/mp4"})
    await response.prepare(request)
    stream = cu264.StreamEncoder(fps=24)
    async for chunk in chunks():
        await response.write(await asyncio.to_thread(stream.encode, chunk))
    await response.write(await asyncio.to_thread(stream.close))
    await response.write_eof()
    return response


async def played(request):
    print("played:", await request.text(), flush=True)
    return web.Response()


async def main(port):
    application = web.Application()
    application.add_routes([web.get("/", page), web.get("/video.mp4", video), web.post("/played", played)])
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "localhost", port)
    await site.start()
    print(f"http://localhost:{site._server.sockets[0].getsockname()[1]}/", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 8000))
