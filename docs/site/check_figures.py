#!/usr/bin/env python3
"""Looks for each measured number of the pages in bench/results.

A number is measured if a unit follows it (kB, dB, %, ms, us, pictures a second, times, GB/s ..) or if it stands in a link to
bench/results. It must be in one of the files of bench/results that its page links, as it is or as a rounding of what stands
there: 17 700 of 17 656, 2.1 of 2.084. Code, and numbers of standards and settings, have no such unit.

  check_figures.py [PAGE...]      default: every page that is not made by a script
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/guides/*.md", "python/README.md", "vision/README.md",
         "integrations/*/README.md")
UNIT = r"(?:kB|MB/s|MB(?! of)|dB|%|ms|us|GB/s|TB/s|Gbin/s|pictures a second|times(?= (?:as|the|fewer|smaller|larger))|frames a second)"
# A number, with spaces between thousands, and its sign.
NUMBER = r"[-+]?\d{1,3}(?:[ \u202f]\d{3})+(?:\.\d+)?|[-+]?\d+(?:\.\d+)?"
MEASURED = re.compile(r"(?<![\w.])(%s)(?= ?%s\b| ?%%|\]\([^)]*times)" % (NUMBER, UNIT))
CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]*`|<!--.*?-->|^---\n.*?^---$", re.M | re.S)
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]*bench/results/[^)\s#]+)(?:#[^)]*)?\)")


def plain(number):
    return number.replace(" ", "").replace("\u202f", "").lstrip("+")


def numbers_of(text):
    return {plain(found) for found in re.findall(NUMBER, text)}


def is_rounding(number, known):
    """Whether a known number, rounded to as many digits as `number` has, is `number`."""
    value, decimals = float(number), len(number.partition(".")[2])
    zeros = len(number) - len(number.rstrip("0")) if not decimals and len(number.lstrip("-")) > 2 else 0
    digits = decimals if decimals else -min(zeros, 2)
    for each in known:
        if round(float(each), digits) == value and len(each.replace(".", "")) >= 2:
            return True
    return False


def table_rows(text):
    """Cells of rows whose first cell names a unit: `| ..pictures a second.. | 17 768 | 4 743 |`."""
    for row in re.findall(r"^\|.*\|$", text, re.M):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if re.search(r"pictures a second|\bms\b|%", " ".join(cells[:2])) or " measured](" in " " + row.replace("[measured", " measured"):
            for cell in cells[1:]:
                if re.fullmatch(r"(?:%s)(?: %%)?" % NUMBER, cell):
                    yield re.match(NUMBER, cell).group()


def check(page):
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    files = {}
    for _, address in LINK.findall(text):
        path = (page.parent / address).resolve()
        if not path.is_file():
            yield "%s is not there" % address
            continue
        files[path] = numbers_of(path.read_text(encoding="utf-8"))
        for sibling in (path.with_suffix(".json"),):
            if sibling.is_file():
                files[path] |= numbers_of(sibling.read_text(encoding="utf-8"))
    known = set().union(*files.values()) if files else set()
    for label, address in LINK.findall(text):
        path = (page.parent / address).resolve()
        for number in re.findall(NUMBER, re.sub(r"[\w-]*[a-z][\w.-]*\.(?:md|json)|h[12]00", "", label)):
            if path in files and plain(number) not in files[path] and not is_rounding(plain(number), files[path]):
                yield "%s is not in %s" % (number, address)
    measured = [found.group(1) for found in MEASURED.finditer(LINK.sub("", text))] + list(table_rows(text))
    for number in dict.fromkeys(measured):
        if plain(number) not in known and not is_rounding(plain(number), known):
            yield "%s is in no file of bench/results that the page links" % number


def main():
    pages = [pathlib.Path(each).resolve() for each in sys.argv[1:]] or sorted(path for pattern in PAGES for path in ROOT.glob(pattern))
    faults = ["%s: %s" % (page.relative_to(ROOT) if ROOT in page.parents else page, fault) for page in pages for fault in check(page)]
    print("\n".join(faults) if faults else "the numbers of %d pages are in bench/results" % len(pages))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
