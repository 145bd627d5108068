#!/usr/bin/env python3
"""Makes the pictures of the site in docs/images with the built command: a drawn scene, what encryption at each strength makes
of it, and its edges. The nonce of encryption is drawn anew, so the encrypted pictures differ each time.

  pictures.py CU264                   needs NumPy and ffmpeg with WebP
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

IMAGES = pathlib.Path(__file__).resolve().parents[1] / "images"
WIDTH, HEIGHT = 640, 352


def scene():
    """Hills below a sun, a house, a fence and a meadow with grain, all drawn by formulas."""
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(float)
    random = np.random.default_rng(7)
    picture = np.stack([120 + 90 * y / HEIGHT, 160 + 60 * y / HEIGHT, 225 - 30 * y / HEIGHT], -1)
    picture[(x - 500) ** 2 + (y - 70) ** 2 < 38 ** 2] = (255, 226, 130)
    for base, height, length, shade in ((190, 40, 170, (96, 128, 150)), (225, 26, 95, (70, 118, 92)), (262, 12, 60, (92, 140, 62))):
        ridge = base + height * np.sin(x / length + base) + height / 3 * np.sin(x / length * 2.7)
        rough = random.normal(0, 9, (HEIGHT, WIDTH))
        picture = np.where((y > ridge)[..., None], np.array(shade) + rough[..., None] + (y - ridge)[..., None] / 4, picture)
    wall = (x > 110) & (x < 230) & (y > 215) & (y < 300)
    picture[wall] = (196, 150, 118)
    picture[wall & (((y // 8) % 2 == 0) & (y % 8 < 1.5) | ((x + 12 * (y // 8 % 2)) % 24 < 1.5))] = (150, 106, 84)
    picture[(abs(x - 170) < 78 - (215 - y) * 1.2) & (y > 160) & (y <= 215)] = (120, 54, 48)
    for left in (130, 190):
        picture[(x > left) & (x < left + 24) & (y > 236) & (y < 264)] = (58, 74, 96)
    picture[(x > 158) & (x < 180) & (y > 252) & (y < 300)] = (82, 52, 34)
    trunk = (abs(x - 400) < 9) & (y > 200) & (y < 300)
    picture[trunk] = (92, 66, 44)
    crown = (x - 400) ** 2 + (1.2 * (y - 175)) ** 2 < (58 + 6 * np.sin(8 * np.arctan2(y - 175, x - 400))) ** 2
    picture = np.where(crown[..., None], np.array((52, 104, 48)) + random.normal(0, 16, (HEIGHT, WIDTH))[..., None], picture)
    fence = (y > 296) & (y < 330) & ((x % 26 < 6) | (abs(y - 306) < 3) | (abs(y - 320) < 3))
    picture[fence] = (228, 222, 206)
    return np.clip(picture, 0, 255).astype(np.uint8)


def main():
    cu264 = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        def run(*command, **keywords):
            subprocess.run([str(each) for each in command], check=True, cwd=folder, stderr=subprocess.DEVNULL, **keywords)

        def keep(source, name):
            run("ffmpeg", "-v", "error", "-y", "-i", source, "-frames:v", "1", "-c:v", "libwebp", "-quality", "72", IMAGES / name)

        run("ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "%dx%d" % (WIDTH, HEIGHT), "-i", "-", "scene.png",
            input=scene().tobytes())
        keep("scene.png", "scene.webp")
        run(cu264, "encode", "scene.png", "plain.264", "--qp", "24", "--cavlc")
        run(cu264, "protect", "new-key", "key.hex")
        for strength in (1, 2, 3):
            sealed = "sealed-%d.264" % strength
            run(cu264, "protect", "encrypt", "plain.264", sealed, "--strength", strength, "--key-file", "key.hex")
            keep(sealed, "encrypted-%d.webp" % strength)
        run(cu264, "edges", "scene.png", "edges.png")
        run(cu264, "edges", "scene.png", "overlay.png", "--overlay")
        keep("edges.png", "edges.webp")
        keep("overlay.png", "edges-overlay.webp")


if __name__ == "__main__":
    main()
