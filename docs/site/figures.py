"""Reads the figures of bench/results: tables of JSON, of Markdown and of programs' output."""
import json
import pathlib
import re

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "bench" / "results"


class Missing(Exception):
    """A file of bench/results has no longer what a plot reads there."""


def text_of(name):
    return (RESULTS / name).read_text(encoding="utf-8")


def json_rows(name, table, **wanted):
    rows = json.loads(text_of(name))[table]
    found = [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]
    if not found:
        raise Missing("%s, %s: no row with %s" % (name, table, wanted))
    return found


def markdown_table(name, *columns, row=None):
    """The first Markdown table that has these columns, and a row with this first cell: a dictionary for each row, whose first
    cell is "first"; of columns of one name the last counts."""
    for part in re.findall(r"(?:^\|.*\n?)+", text_of(name), re.M):
        rows = [[cell.strip(" *`") for cell in line.strip("|").split("|")] for line in part.strip().splitlines()]
        if all(column in rows[0] for column in columns) and (row is None or any(each[0] == row for each in rows)):
            return [dict(zip(["first"] + rows[0][1:], each)) for each in rows[2:]]
    raise Missing("%s has no table with %s" % (name, ", ".join(columns)))


def by_name(rows):
    """Rows by their first cell; of rows of one name the first counts."""
    return {row["first"]: row for row in reversed(rows)}


def printed_table(name, title):
    """The first table that a program printed under this title: a list of cells for each row, head left out."""
    found = re.search(r"^%s\n.*\n((?:\S| +\S).*\n(?:.*\S.*\n)*)" % re.escape(title), text_of(name), re.M)
    if not found:
        raise Missing("%s has no table '%s'" % (name, title))
    return [line.split() for line in found.group(1).splitlines() if line.strip("`")]


def number(cell):
    found = re.search(r"[-+]?\d+(\.\d+)?", cell.replace("\u202f", "").replace(" ", ""))
    if not found:
        raise Missing("'%s' is no number" % cell)
    return float(found.group())
