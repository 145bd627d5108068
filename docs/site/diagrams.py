"""The figures of "How it works", drawn as SVG; a page asks for one by a line `<!-- figure: NAME -->`."""
import html


def text(x, y, content, css="", anchor="middle"):
    return '<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>' % (x, y, css, anchor, html.escape(content))


def svg(label, width, height, parts, caption):
    return ('<figure class="plot diagram"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>'
            "<figcaption>%s</figcaption></figure>") % (width, height, html.escape(label, quote=True), "".join(parts), html.escape(caption))


def box(x, y, width, height, lines, css=""):
    middle = y + height / 2 - 8 * (len(lines) - 1) + 5
    return '<rect class="box %s" x="%d" y="%d" width="%d" height="%d" rx="4"/>' % (css, x, y, width, height) + "".join(
        text(x + width / 2, middle + 16 * i, line, "name" if i == 0 else "small") for i, line in enumerate(lines))


def arrow(x, y, to_x, to_y):
    return '<path class="arrow" d="M%d %dL%d %d" marker-end="url(#tip)"/>' % (x, y, to_x, to_y)


TIP = ('<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
       '<path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>')


def pipeline():
    stages = [("frames", "host, pinned or device"), ("planes", "4:2:0, by one kernel"), ("rate control", "measures; QP a picture"),
              ("search", "modes, levels: wavefront"), ("coder", "CAVLC or CABAC"), ("packer", "places, escapes, NAL units"),
              ("packets", "access units")]
    parts, width, height = [TIP], 168, 52
    places = [(8, 8), (206, 8), (404, 8), (404, 96), (206, 96), (8, 96), (8, 184)]
    for (x, y), lines in zip(places, stages):
        parts.append(box(x, y, width, height, lines, "ends" if lines[0] in ("frames", "packets") else ""))
    parts += [arrow(176, 34, 204, 34), arrow(374, 34, 402, 34), arrow(488, 60, 488, 94), arrow(404, 122, 378, 122), arrow(206, 122, 180, 122),
              arrow(92, 148, 92, 182)]
    parts.append(box(206, 184, 366, 52, ("two batches in flight", "one is uploaded and searched while the other is downloaded"), "note"))
    return svg("Frames become planes, rate control gives QPs, the search finds modes and levels, the coder makes bits, the packer makes "
               "packets", 580, 244, parts, "From frames to packets. No picture leaves the GPU on the way.")


def wavefront(columns=12, rows=7, distance=1):
    """Each macroblock appears when its left neighbour and those above are done; one step takes 0.25 s."""
    side, parts = 40, []
    steps = columns + distance * (rows - 1)
    for row in range(rows):
        for column in range(columns):
            step = column + distance * row
            x, y = 4 + side * column, 4 + side * row
            parts.append('<rect class="mb" style="animation-delay:%.2fs" x="%d" y="%d" width="%d" height="%d"/>' % (
                0.25 * step, x, y, side - 3, side - 3))
            parts.append(text(x + side / 2 - 1.5, y + side / 2 + 3, str(step + 1), "small"))
    return svg("A grid of macroblocks; each holds the number of the step in which it is computed, which grows to the right and downwards",
               side * columns + 8, side * rows + 8, parts,
               "The numbers are steps: all macroblocks of one number are computed at once. %d macroblocks take %d steps here." % (
                   columns * rows, steps))


def chunks():
    parts = [TIP]
    for i, name in enumerate(("chunk 1", "chunk 2", "chunk 3", "chunk 4")):
        x = 12 + 140 * i
        parts.append(box(x, 8, 132, 34, (name,)))
        parts.append(arrow(x + 66, 42, x + 66, 74))
        parts.append('<rect class="box share" x="%d" y="%d" width="150" height="22" rx="3"/>' % (x, 78 + 26 * (i % 2)))
        parts.append(text(x + 75, 93 + 26 * (i % 2), "share of low", "small"))
    parts += [arrow(286, 132, 286, 156), box(12, 160, 560, 34, ("the codeword: the sum of all shares, carries included",), "ends")]
    return svg("Four chunks of bins are coded apart; their shares of low overlap and are added to one codeword", 584, 202, parts,
               "CABAC in parallel: each chunk is coded as if low were 0, and the shares are added where a scan places them.")


def packer():
    parts, lengths, at = [TIP], (5, 3, 8, 2, 6, 4), 0
    for i, length in enumerate(lengths):
        parts.append(box(12 + 96 * i, 8, 84, 44, ("group %d" % (i + 1), "%d bits" % length)))
        parts.append(arrow(54 + 96 * i, 52, 54 + 96 * i, 76))
        parts.append(text(54 + 96 * i, 94, "begins at %d" % at, "small"))
        parts.append('<rect class="box share" x="%.1f" y="112" width="%.1f" height="26"/>' % (12 + 20.2 * at, 20.2 * length - 2))
        parts.append(text(12 + 20.2 * at + 10.1 * length, 130, str(i + 1), "small"))
        at += length
    return svg("Six groups of bits with their lengths; a prefix sum of the lengths says where each begins in the stream", 592, 148, parts,
               "The packer: a prefix sum of lengths gives every group its place, and each byte has one writer.")


FIGURES = {"pipeline": pipeline, "wavefront": wavefront, "chunks": chunks, "packer": packer}
