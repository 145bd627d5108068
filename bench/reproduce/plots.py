"""Line plots as SVG, legible on light and dark pages."""
import html
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 400, 78, 190, 52, 58
COLOURS = ["#2a78d6", "#d1492e", "#2f8f4e", "#8a56c2", "#b8860b", "#00838f", "#ad1457", "#6b7280"]
STYLE = """
  .paper { fill: #ffffff; stroke: #d0d7de } .grid { stroke: #d0d7de } path { fill: none; stroke-width: 2 }
  text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 15px } .small { font-size: 12px; fill: #59636e }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117; stroke: #3d444d } .grid { stroke: #3d444d } text { fill: #f0f6fc } .small { fill: #9198a1 }
  }
"""


def text(x, y, content, css="", anchor="start", turned=False):
    turn = ' transform="rotate(-90 %.1f %.1f)"' % (x, y) if turned else ""
    return '<text x="%.1f" y="%.1f" class="%s" text-anchor="%s"%s>%s</text>' % (x, y, css, anchor, turn, html.escape(content))


class Scale:
    """Maps values to pixels, linearly from zero or by logarithm."""

    def __init__(self, values, logarithmic, first, last):
        self.logarithmic, self.first, self.last = logarithmic, first, last
        if logarithmic:
            self.low = math.floor(math.log10(min(values)) + 1e-9)
            self.high = max(self.low + 1, math.ceil(math.log10(max(values)) - 1e-9))
            self.ticks = [10.0 ** power for power in range(self.low, self.high + 1)]
        else:
            step = 10 ** math.floor(math.log10(max(values) or 1))
            step = next(s for s in (step / 5, step / 2, step, 2 * step) if (max(values) or 1) / s <= 6)
            count = math.ceil(max(values) / step - 1e-9) or 1
            self.low, self.high, self.ticks = 0, step * count, [step * i for i in range(count + 1)]

    def at(self, value):
        position = (math.log10(value) if self.logarithmic else value) - self.low
        return self.first + (self.last - self.first) * position / (self.high - self.low)


def lines(title, x_label, y_label, series, log_x, log_y):
    points = [point for values in series.values() for point in values
              if (point[0] > 0 or not log_x) and (point[1] > 0 or not log_y)]
    x = Scale([point[0] for point in points], log_x, LEFT, WIDTH - RIGHT)
    y = Scale([point[1] for point in points], log_y, HEIGHT - BOTTOM, TOP)
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">'
             % (WIDTH, HEIGHT, WIDTH, HEIGHT), "<title>%s</title>" % html.escape(title), "<style>%s</style>" % STYLE,
             '<rect class="paper" x="0.5" y="0.5" width="%d" height="%d" rx="6"/>' % (WIDTH - 1, HEIGHT - 1),
             text(20, 28, title, "title")]
    for tick in x.ticks:
        parts.append('<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>' % (x.at(tick), TOP, x.at(tick), HEIGHT - BOTTOM))
        parts.append(text(x.at(tick), HEIGHT - BOTTOM + 18, "%g" % tick, "small", "middle"))
    for tick in y.ticks:
        parts.append('<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>' % (LEFT, y.at(tick), WIDTH - RIGHT, y.at(tick)))
        parts.append(text(LEFT - 8, y.at(tick) + 4, "%g" % tick, "small", "end"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 18, x_label, "small", "middle"))
    parts.append(text(22, (TOP + HEIGHT - BOTTOM) / 2, y_label, "small", "middle", turned=True))
    for index, (name, values) in enumerate(series.items()):
        colour = COLOURS[index % len(COLOURS)]
        shown = [(x.at(a), y.at(b)) for a, b in sorted(values) if (a > 0 or not log_x) and (b > 0 or not log_y)]
        parts.append('<path stroke="%s" d="M %s"/>' % (colour, " L ".join("%.1f %.1f" % point for point in shown)))
        parts += ['<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"/>' % (point[0], point[1], colour) for point in shown]
        row = TOP + 14 + 20 * index
        parts.append('<rect x="%d" y="%d" width="14" height="4" fill="%s"/>' % (WIDTH - RIGHT + 14, row - 6, colour))
        parts.append(text(WIDTH - RIGHT + 34, row, name, "small"))
    return "\n".join(parts + ["</svg>", ""])
