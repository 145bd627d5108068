#!/usr/bin/env python3
"""Makes the clips by which rate and distortion are judged: four pictures each, small, stored losslessly (FFV1).

  bench/content/make_clips.py FOLDER            all clips
  bench/content/make_clips.py FOLDER dark_      those whose names begin so

Drawn by programs: dark and flat pictures by FFmpeg's sources with grain, rendered ones by POV-Ray, screens by
headless Chromium. Photographs, paintings and video come from Debian packages, which `apt-get download` fetches and
nothing installs; they are scaled to cover the clip's size and cropped. Clips named *_t are there to choose settings
by, clips named *_h to judge what was chosen. Clips named *_u and *_w are to be looked at seldom, so that there is a
judge that no choice was ever made by.

Needs Python, ffmpeg, povray, chromium and fonts-dejavu-core; for photographs apt-get and dpkg-deb.
"""
import os
import subprocess
import sys
import tempfile

import pages

HERE = os.path.dirname(os.path.abspath(__file__))
PICTURES = 4

SMALL, WIDE = (480, 320), (640, 352)


def gradients(size, seed, speed, *colours):
    points = ":".join(f"c{i}=0x{colour}" for i, colour in enumerate(colours))
    return (f"gradients=s={size[0]}x{size[1]}:r=1:n={len(colours)}:{points}:seed={seed}:speed={speed}"
            ",format=yuv420p")


def fractal(size, start, brightness, saturation):
    return (f"mandelbrot=s={size[0]}x{size[1]}:r=1:{start}:end_scale=0.01:end_pts=10,format=yuv420p,"
            f"lutyuv=y=16+(val-16)*{brightness}:u=128+(val-128)*{saturation}:v=128+(val-128)*{saturation}")


def waves(size, luma, cb, cr):
    return f"nullsrc=s={size[0]}x{size[1]}:r=1,format=yuv444p,geq=lum='{luma}':cb='{cb}':cr='{cr}'"


def grain(luma, chroma=0, kind="t"):
    """Another one in each picture."""
    planes = [f"c{i}s={strength}:c{i}f={kind}" for i, strength in enumerate((luma, chroma, chroma)) if strength > 0]
    return ",noise=" + ":".join(planes)


# name: width, height, FFmpeg's source and filters
SOURCES = {
    "dark_lights_t": (*WIDE, gradients(WIDE, 5, 0.6, "05060c", "1a1020", "0a1a18", "301808", "080810") + grain(7, 3)),
    "dark_fractal_h": (*SMALL, fractal(SMALL, "start_scale=0.4", 0.3, 0.4) + grain(8, 4)),
    "flat_gradient_t": (*WIDE, gradients(WIDE, 11, 0.8, "80a8d8", "e8d0b0", "c890a0", "90b888") + grain(2)),
    "flat_discs_h": (*SMALL, waves(SMALL, "120+60*sin(hypot(X-240+40*N,Y-160)/90)+20*lt(hypot(X-120,Y-100),60)",
                                  "128+40*sin((X+Y+30*N)/150)",
                                  "128+30*cos((X-2*Y)/170)-30*lt(hypot(X-340,Y-200),70)") + grain(3)),
    "dark_gradient_u": (*SMALL, gradients(SMALL, 77, 0.7, "081018", "201408", "100820", "182808", "281010", "040810")
                        + grain(6, 3)),
    "flat_waves_u": (*WIDE, waves(WIDE, "110+50*sin((X+3*Y+50*N)/160)+25*lt(mod(X+Y,300),120)",
                                 "128+35*sin(hypot(X-300,Y-90)/110)",
                                 "128-30*cos((2*X-Y+60*N)/200)+25*lt(hypot(X-450,Y-220),80)") + grain(2)),
    "dark_cellar_w": (*SMALL, gradients(SMALL, 913, 0.5, "040404", "2c2010", "0c1424") + grain(5, 2)),
    "dark_spiral_w": (*WIDE, fractal(WIDE, "start_x=-0.16:start_y=-1.03:start_scale=0.1", 0.22, 0.5) + grain(9, 4)),
    "flat_sky_w": (*WIDE, gradients(WIDE, 921, 0.4, "4070c0", "b0d0f0", "f0e0c8") + grain(4, 2, "t+u")),
    "flat_stripes_w": (*SMALL, waves(SMALL, "140+40*sin(X/130+N)+30*lt(mod(2*X-Y,260),90)",
                                    "128+45*sin((Y+30*N)/120)",
                                    "128+35*cos((X+Y)/140)-30*lt(abs(Y-200),30)") + grain(3)),
}
# name: width, height, scene, the scene's clock in the first picture and its step
RENDERED = {"rendered_balls_h": (480, 320, "balls.pov", 0, 0.25), "rendered_hills_t": (480, 320, "hills.pov", 0, 0.25),
            "rendered_balls_u": (480, 320, "balls.pov", 3.13, 0.31),
            "rendered_hills_u": (480, 320, "hills.pov", 3.13, 0.31),
            "rendered_columns_w": (480, 320, "columns.pov", 0.2, 0.3),
            "rendered_balls_w": (640, 352, "balls.pov", 1.7, 0.27)}
# name: width, height, kind of page, number of the first page
SCREENS = {"screen_article_t": (640, 352, "article", 0), "screen_code_h": (640, 352, "code", 0),
           "screen_dashboard_h": (640, 352, "dashboard", 0), "screen_icons_t": (640, 352, "icons", 0),
           "screen_news_u": (640, 352, "article", 1000), "screen_editor_u": (480, 320, "code", 1000),
           "screen_panel_u": (640, 352, "dashboard", 1000), "screen_shapes_u": (480, 320, "icons", 1000),
           "screen_letter_w": (480, 320, "article", 2000), "screen_table_w": (640, 352, "table", 2000),
           "screen_map_w": (640, 352, "street_map", 2000)}

# name: width, height, [(package, file)]. A video gives as many pictures as are missing, ten apart from the first frame on
# if nothing else is said.
FIRST_FRAME, FRAME_STEP = {"Megamind.avi": 60}, {"Megamind.avi": 30}
LOMIRI = "lomiri-wallpapers-16.04", "usr/share/backgrounds/"
MATE = "mate-backgrounds", "usr/share/backgrounds/mate/"
PLASMA = "plasma-workspace-wallpapers", "usr/share/wallpapers/"
OPENCV = "opencv-doc", "usr/share/doc/opencv-doc/examples/data/"
OPENCV_MORE = "opencv-doc", "usr/share/doc/opencv-doc/examples/"
LOMIRI_LATER = "lomiri-wallpapers-20.04", "usr/share/backgrounds/"


def of(collection, *files):
    return [(collection[0], collection[1] + file) for file in files]


PHOTOGRAPHS = {
    "photo_outdoors_t": (640, 352, of(LOMIRI, "Bridge_by_Sander_Klootwijk.jpg", "Dragonfly_by_Bolly.jpg",
                                      "friends_by_Aitzol_Berasategi.jpg", "picosdeeuropa_by_Aitzol_Berasategi.jpg")),
    "photo_nature_h": (640, 352, of(MATE, "nature/Dune.jpg", "nature/Garden.jpg", "nature/RainDrops.jpg",
                                    "nature/YellowFlower.jpg")),
    "photo_season_h": (480, 320, of(PLASMA, "Autumn/contents/images/2560x1600.jpg",
                                    "FallenLeaf/contents/images/2560x1600.jpg", "Path/contents/images/2560x1600.jpg",
                                    "Kite/contents/images/2560x1600.jpg")),
    "photo_objects_t": (480, 320, of(OPENCV, "aloeL.jpg", "rubberwhale1.png", "graf1.png", "leuvenA.jpg")),
    "photo_evening_h": (480, 320, of(LOMIRI, "Wine_by_Jakkub_Mede.jpg", "sunset_by_Aitzol_Berasategi.jpg",
                                     "umang_by_Abhishek_Mudgal.jpg", "life_by_Aitzol_Berasategi.jpg")),
    "drawn_colours_h": (640, 352, of(PLASMA, "FlyingKonqui/contents/images/2560x1600.png",
                                     "PastelHills/contents/images/3200x2000.jpg",
                                     "SafeLanding/contents/images/5120x2880.jpg")
                        + of(OPENCV, "starry_night.jpg")),
    "drawn_abstract_t": (480, 320, of(MATE, "abstract/Elephants.jpg", "abstract/Gulp.png", "desktop/Float-into-MATE.png")
                         + [("lomiri-wallpapers-20.04", "usr/share/backgrounds/Painting-Colors_by__herobrine7gamer.jpg")]),
    "video_street_h": (640, 480, of(OPENCV, "vtest.avi")),
    "video_trees_t": (320, 240, of(OPENCV, "tree.avi")),
    "photo_garden_u": (640, 352, of(MATE, "nature/Wood.jpg", "nature/Aqua.jpg", "nature/Storm.jpg",
                                    "nature/LadyBird.jpg")),
    "photo_small_u": (480, 320, of(MATE, "nature/TwoWings.jpg", "nature/GreenMeadow.jpg", "nature/FreshFlower.jpg",
                                   "nature/Blinds.jpg")),
    "photo_still_u": (480, 320, of(OPENCV, "fruits.jpg", "stuff.jpg", "board.jpg", "messi5.jpg")),
    "video_film_u": (640, 480, of(OPENCV, "Megamind.avi")),
    "photo_signs_w": (640, 352, of(OPENCV_MORE, "text/scenetext01.jpg", "text/scenetext02.jpg", "text/scenetext04.jpg",
                                   "text/scenetext05.jpg")),
    "photo_animals_w": (480, 320, of(LOMIRI_LATER, "Fossa_by_Jasper_Roks.jpg", "Kleiber_by_Lukas_Baubkus.jpg")
                        + of(OPENCV, "squirrel_cls.jpg", "baboon.jpg")),
    "photo_plants_w": (320, 240, of(OPENCV_MORE, "alphamat/input_images/plant.jpg", "dnn_superres/butterfly.png")
                       + of(OPENCV, "home.jpg", "HappyFish.jpg")),
}


def run(*command, folder=None):
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit("make_clips.py: error: %s: exit status %d: %s" % (command[0], done.returncode, done.stdout[-600:]))


def store(inputs, filters, output):
    """FFmpeg's input options and filters to four pictures of 8-bit 4:2:0 by BT.709, limited range."""
    convert = "scale=out_color_matrix=bt709:out_range=tv:flags=lanczos+accurate_rnd,format=yuv420p"
    run("ffmpeg", "-v", "error", "-y", *inputs, "-vf", ",".join([*filters, convert, "setpts=N/TB"]), "-vsync", "0",
        "-frames:v", str(PICTURES), "-c:v", "ffv1", output)


def render(scene, clock, step, width, height, folder):
    for n in range(PICTURES):
        run("povray", os.path.join(HERE, scene), "+W%d" % width, "+H%d" % height, "+A0.2", "-D", "+WT1",
            "+K%.2f" % (clock + step * n), "+O" + os.path.join(folder, "%d.png" % n))


def screenshots(kind, first, width, height, folder):
    for n in range(PICTURES):
        source = os.path.join(folder, "%d.html" % n)
        with open(source, "w", encoding="utf-8") as file:
            file.write(pages.page(kind, first + n))
        run("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--user-data-dir=" + os.path.join(folder, "profile"), "--window-size=%d,%d" % (width, height),
            "--screenshot=" + os.path.join(folder, "%d.png" % n), "file://" + source)


def unpack(package, unpacked, folder):
    if package in unpacked:
        return
    unpacked.add(package)
    run("apt-get", "download", package, folder=folder)
    archive = next(name for name in os.listdir(folder) if name.startswith(package + "_"))
    run("dpkg-deb", "-x", archive, package, folder=folder)
    os.remove(os.path.join(folder, archive))


def photographs(files, width, height, output, unpacked, packages):
    with tempfile.TemporaryDirectory() as folder:
        made = 0
        for package, file in files:
            unpack(package, unpacked, packages)
            cover = "scale=%d:%d:force_original_aspect_ratio=increase:flags=lanczos,crop=%d:%d" \
                % (width, height, width, height)
            count = PICTURES - made if file.endswith(".avi") else 1
            name = os.path.basename(file)
            first, step = FIRST_FRAME.get(name, 0), FRAME_STEP.get(name, 10)
            run("ffmpeg", "-v", "error", "-y", "-i", os.path.join(packages, package, file), "-an", "-vf",
                "select='gte(n,%d)*not(mod(n,%d))'," % (first, step) + cover, "-vsync", "0", "-frames:v", str(count),
                "-start_number", str(made), "-pix_fmt", "rgb24", os.path.join(folder, "%d.png"))
            made += count
        store(["-r", "25", "-i", os.path.join(folder, "%d.png")], [], output)


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    target, wanted = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    os.makedirs(target, exist_ok=True)
    unpacked = set()
    with tempfile.TemporaryDirectory() as packages:
        for name, (width, height, *what) in {**SOURCES, **RENDERED, **SCREENS, **PHOTOGRAPHS}.items():
            if not name.startswith(wanted):
                continue
            output = os.path.join(target, name + ".mkv")
            if name in SOURCES:
                store(["-f", "lavfi", "-i", what[0]], [], output)
            elif name in PHOTOGRAPHS:
                photographs(what[0], width, height, output, unpacked, packages)
            else:
                with tempfile.TemporaryDirectory() as folder:
                    (render if name in RENDERED else screenshots)(*what, width, height, folder)
                    store(["-r", "25", "-i", os.path.join(folder, "%d.png")], [], output)
            print(name, flush=True)


if __name__ == "__main__":
    main()
