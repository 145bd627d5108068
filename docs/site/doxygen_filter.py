#!/usr/bin/env python3
"""Doxygen's filter for the public headers: prints a header with its plain comments in the form that Doxygen reads.

A comment before a declaration documents it, one after it on the same line too, and the comment at the top documents the
file. The headers themselves stay free of Doxygen's marks.
"""
import re
import sys

SECTION = re.compile(r"\s*(?://|/\*) ?---- (.*?)[. -]*(?:\*/)?$")
TRAILING = re.compile(r"^(?P<code>(?:[^\"/]|\"(?:\\.|[^\"\\])*\"|/(?![/*]))*\S\s+)(?://|/\*) ?(?P<text>.*?)(?: \*/)?$")


def plain(line):
    """The text of a line of a comment, or None; examples are indented as Markdown wants them."""
    found = re.match(r"\s*(?://|/\*|\*(?!/)| \*) ?(.*?)(?:\s*\*/)?$", line)
    text = found.group(1) if found else None
    return text and re.sub(r"^ {2}(?=\S)", "    ", re.sub(r"^ {3,}", lambda spaces: " " * (len(spaces.group()) + 2), text))


def filtered(lines):
    at_top, in_block, column = True, False, None
    for line in lines:
        stripped = line.strip()
        if SECTION.match(line):
            column = None
            yield ""
            continue
        begins = stripped.startswith("/*")
        if begins or in_block or stripped.startswith("//"):
            if column is not None and stripped.startswith("//") and line.index("/") == column:
                yield "///< " + plain(line)
                continue
            column = None
            text = "" if stripped == "*/" else plain(line) or ""
            mark = "//!" if at_top else "///"
            yield (mark + " @file\n" if at_top is True else "") + mark + " " + text
            at_top = at_top and "going"
            in_block = (begins or in_block) and "*/" not in line
            continue
        at_top = False
        found = TRAILING.match(line)
        column = None
        if found and not stripped.startswith("#") and not stripped.startswith("}"):
            column = len(found.group("code"))
            yield found.group("code") + "///< " + found.group("text")
            in_block = "/*" in line and "*/" not in line
        else:
            yield line


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        print("\n".join(filtered(header.read().splitlines())))
