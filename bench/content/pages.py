"""Pages that stand for screen content: an article, source code, a dashboard, icons, a table, a map. All drawn from a
seed."""
import random

WORDS = ("picture block sample level transform residual slice stream encoder decoder colour edge light shadow garden "
         "river mountain window paper letter table train station market winter summer morning quiet small early "
         "between without several because another under always the a of in to and with for on at by").split()


def sentence(rng, count):
    words = [rng.choice(WORDS) for _ in range(count)]
    return " ".join(words).capitalize() + "."


def colour(rng, light=(35, 60)):
    return "hsl(%d, %d%%, %d%%)" % (rng.randrange(360), rng.randrange(55, 100), rng.randrange(*light))


def article(rng):
    parts = ["<h1>%s</h1>" % sentence(rng, 4)]
    for _ in range(8):
        text = " ".join(sentence(rng, rng.randrange(8, 18)) for _ in range(5))
        link = '<a style="color:%s">%s</a>' % (colour(rng), sentence(rng, 3))
        parts.append("<p>%s %s %s</p>" % (text, link, sentence(rng, 9)))
    return "font:15px/1.4 'DejaVu Serif'; margin:16px; background:#fff; color:#222", "".join(parts)


def code(rng):
    keywords, lines = ["if", "for", "return", "const", "int", "while", "struct"], []
    for number in range(60):
        words = ['<i style="color:#7d8590">%3d </i>' % number + "&nbsp;" * (2 * rng.randrange(5))]
        for _ in range(rng.randrange(2, 9)):
            word = rng.choice(WORDS)
            kind = rng.randrange(5)
            words.append(('<b style="color:#ff7b72">%s</b>' % rng.choice(keywords)) if kind == 0 else
                         ('<span style="color:#a5d6ff">"%s"</span>' % word) if kind == 1 else
                         ('<span style="color:#d2a8ff">%s</span>(%d)' % (word, rng.randrange(99))) if kind == 2 else word)
        lines.append(" ".join(words))
    return "font:13px/1.35 'DejaVu Sans Mono'; white-space:nowrap; margin:8px; background:#0d1117; color:#e6edf3", \
        "<br>".join(lines)


def dashboard(rng):
    tiles = []
    for _ in range(9):
        bars = "".join('<rect x="%d" y="%d" width="9" height="90" fill="%s"/>' % (12 * i, rng.randrange(85), colour(rng))
                       for i in range(8))
        points = " ".join("%d,%d" % (100 + 6 * i, rng.randrange(10, 85)) for i in range(17))
        tiles.append('<div style="float:left;width:200px;margin:4px;padding:4px;border-radius:8px;background:%s">'
                     '<b>%s</b><svg width="200" height="90">%s<polyline points="%s" fill="none" stroke="%s" '
                     'stroke-width="2"/></svg></div>'
                     % (colour(rng, (88, 97)), sentence(rng, 2), bars, points, colour(rng)))
    return "font:12px 'DejaVu Sans'; margin:4px; background:#f3f4f6; color:#111", "".join(tiles)


def icons(rng):
    shapes = []
    for i in range(240):
        x, y, size = 16 + 32 * (i % 20), 16 + 32 * (i // 20), rng.randrange(5, 15)
        fill, edge = colour(rng), colour(rng, (15, 40))
        style = 'fill="%s" stroke="%s" stroke-width="%d"' % (fill, edge, rng.randrange(3))
        kind = rng.randrange(4)
        shapes.append('<circle cx="%d" cy="%d" r="%d" %s/>' % (x, y, size, style) if kind == 0 else
                      '<rect x="%d" y="%d" width="%d" height="%d" rx="3" %s/>'
                      % (x - size, y - size, 2 * size, 2 * size, style) if kind == 1 else
                      '<path d="M%d %d l%d %d l%d 0 z" %s/>' % (x, y - size, size, 2 * size, -2 * size, style)
                      if kind == 2 else
                      '<text x="%d" y="%d" font-size="%d" font-family="DejaVu Sans" font-weight="bold" fill="%s">%s</text>'
                      % (x - size, y + size, 2 * size, fill, rng.choice("&@#%Rgk8?QWmx")))
    return "margin:0; background:%s" % colour(rng, (80, 96)), \
        '<svg width="640" height="384">%s</svg>' % "".join(shapes)


def table(rng):
    rows = []
    for row in range(24):
        shade = colour(rng, (90, 97)) if row % 5 == 0 else "#fff"
        cells = "".join('<td style="border:1px solid #bbb;padding:1px 8px;text-align:right;color:%s">%s</td>'
                        % ("#b00020" if rng.randrange(6) == 0 else "#111", "%.2f" % (rng.random() * 9000))
                        for _ in range(8))
        rows.append('<tr style="background:%s"><th style="text-align:left">%s</th>%s</tr>'
                    % (shade, rng.choice(WORDS), cells))
    return "font:11px 'DejaVu Sans'; margin:2px; background:#e8eaed", \
        '<table style="border-collapse:collapse">%s</table>' % "".join(rows)


def street_map(rng):
    def path(steps, reach):
        x, y = rng.randrange(640), rng.randrange(352)
        return "M%d %d" % (x, y) + "".join(" q%d %d %d %d" % tuple(rng.randrange(-reach, reach) for _ in range(4))
                                           for _ in range(steps))

    areas = "".join('<path d="%s z" fill="%s"/>' % (path(5, 120), colour(rng, (75, 90))) for _ in range(14))
    roads = "".join('<path d="%s" fill="none" stroke="%s" stroke-width="%d"/>'
                    % (path(6, 160), rng.choice(["#fff", "#ffd54f", "#f48f6f", "#90a4ae"]), rng.randrange(2, 9))
                    for _ in range(40))
    names = "".join('<text x="%d" y="%d" font-size="%d" font-family="DejaVu Sans" fill="#333">%s</text>'
                    % (rng.randrange(600), rng.randrange(350), rng.randrange(9, 15), rng.choice(WORDS).capitalize())
                    for _ in range(45))
    return "margin:0; background:#eef0e6", '<svg width="640" height="352">%s%s%s</svg>' % (areas, roads, names)


def page(kind, number):
    style, body = globals()[kind](random.Random("%s %d" % (kind, number)))
    return '<!doctype html><meta charset="utf-8"><body style="%s">%s</body>' % (style, body)
