"""Draws bars and lines as SVG for a page: colours are the page's own, for light and dark, and each series has a mark of its
own. Every bar and point tells its values when the pointer rests on it."""
import html
import math

WIDTH = 760
NARROW, BAR, ROW = 480, 15, 24  # of bars, which fit a phone
LETTER = 7.2  # a letter is about so wide
LEFT, RIGHT, TOP, BOTTOM, HEIGHT = 64, 16, 12, 44, 320
MARKS = ("M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0", "M-4 -4h8v8h-8z", "M0 -5.5L5 4h-10z", "M0 -5.5L5.5 0L0 5.5L-5.5 0z",
         "M-5 -2h3v-3h4v3h3v4h-3v3h-4v-3h-3z")


def shown(value, decimals=0):
    return "{:,.{}f}".format(value, decimals).replace(",", "\u202f")  # a narrow space between thousands


def steps(largest, count=6):
    """Round steps from zero, the last at or below the largest value."""
    step = 10 ** math.floor(math.log10(largest))
    step = next(each for each in (step / 5, step / 2, step, 2 * step, 5 * step) if largest / each <= count)
    return [step * i for i in range(int(largest / step + 1e-9) + 1)]


def text(x, y, content, css="", anchor="start"):
    return '<text x="%.1f" y="%.1f"%s text-anchor="%s">%s</text>' % (
        x, y, ' class="%s"' % css if css else "", anchor, html.escape(content))


def svg(title, width, height, parts, caption, css=""):
    head = '<figcaption><strong>%s</strong></figcaption><svg xmlns="http://www.w3.org/2000/svg" class="%s" viewBox="0 0 %d %d" ' % (
        html.escape(caption), css, width, height)
    return head + 'role="img" aria-label="%s">' % html.escape(title, quote=True) + "".join(parts) + "</svg>"


def bars(title, axis, rows, unit="", decimals=0):
    """Horizontal bars from zero, or on both sides of it. A row is a name, a value, and the number of its colour."""
    labels = 20 + LETTER * max(len(row[0]) for row in rows)
    values = 14 + LETTER * max(len(shown(row[1], decimals) + unit) for row in rows)
    least, most = min(0, *(row[1] for row in rows)), max(0, *(row[1] for row in rows))
    room = NARROW - labels - values - (values if least < 0 else 0)
    scale = room / (most - least)
    zero = labels + (values if least < 0 else 0) - least * scale
    parts, last = [], 2 + ROW * len(rows)
    for step in steps(max(most, -least), 4):
        for value in {step, -step}:
            if least <= value <= most:
                x = zero + value * scale
                parts.append('<line class="grid" x1="%.1f" y1="0" x2="%.1f" y2="%d"/>' % (x, x, last + 4))
                parts.append(text(x, last + 18, shown(value, 0 if step >= 1 or not step else decimals) + unit, "small", "middle"))
    for row, (name, value, colour) in enumerate(rows):
        y, length = 4 + ROW * row, abs(value) * scale
        label = shown(value, decimals) + unit
        parts.append(text(labels - 10, y + 12, name, anchor="end"))
        parts.append('<rect class="bar s%d" x="%.1f" y="%.1f" width="%.1f" height="%d"><title>%s</title></rect>' % (
            colour, zero - (length if value < 0 else 0), y, length, BAR, html.escape("%s: %s" % (name, label))))
        parts.append(text(zero + length + 6, y + 12, label, "value") if value >= 0
                     else text(zero - length - 6, y + 12, label, "value", "end"))
    return svg(title, NARROW, last + 24, parts, axis, "narrow")


def lines(title, x_axis, y_axis, series, log_x=False, unit="", decimals=0, x_decimals=0, x_ticks=None, least=0):
    """Points joined by lines. A series is a name and its points; the colour follows from its place. The vertical axis begins at
    `least`, which is zero but for what has no meaningful zero."""
    points = [point for _, each in series for point in each]
    to_x = math.log2 if log_x else float
    low, high = min(to_x(x) for x, _ in points), max(to_x(x) for x, _ in points)
    top = max(y for _, y in points)
    legend = 22 * ((len(series) + 1) // 2)
    height = HEIGHT + legend

    def place(x, y):
        at = (to_x(x) - low) / ((high - low) or 1)
        return LEFT + 14 + at * (WIDTH - LEFT - RIGHT - 28), TOP + legend + 18 + (1 - (y - least) / (top - least)) * (HEIGHT - TOP - BOTTOM - 18)

    base = place(points[0][0], least)[1]
    parts = [text(LEFT, TOP + legend + 6, y_axis, "name"), text(WIDTH - RIGHT, height - 4, x_axis, "name", "end")]
    for value in (least + step for step in steps(top - least)):
        y = place(points[0][0], value)[1]
        parts.append('<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>' % (LEFT, y, WIDTH - RIGHT, y))
        parts.append(text(LEFT - 8, y + 4, shown(value, 0 if float(value).is_integer() else decimals), "small", "end"))
    for x in x_ticks or sorted({x for x, _ in points}):
        parts.append(text(place(x, least)[0], base + 18, shown(x, x_decimals), "small", "middle"))
    for number, (name, each) in enumerate(series):
        css, mark = "s%d" % (number % 5 + 1), MARKS[number % 5]
        placed = [place(*point) for point in each]
        if len(placed) > 1:
            parts.append('<path class="line %s" d="M%s"/>' % (css, "L".join("%.1f %.1f" % point for point in placed)))
        for (x, y), (left, down) in zip(each, placed):
            parts.append('<path class="mark %s" transform="translate(%.1f %.1f)" d="%s"><title>%s</title></path>' % (
                css, left, down, mark, html.escape("%s, %s: %s%s" % (name, shown(x, x_decimals), shown(y, decimals), unit))))
        left, down = LEFT + (number % 2) * 340 + 6, TOP + 4 + 22 * (number // 2)
        parts.append('<path class="mark %s" transform="translate(%d %d)" d="%s"/>' % (css, left, down, mark))
        parts.append(text(left + 12, down + 4, name))
    return svg(title, WIDTH, height, parts, title)


def table(head, rows):
    """The same figures as a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])
