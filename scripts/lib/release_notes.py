#!/usr/bin/env python3
"""Prints a version's section of CHANGELOG.md: release_notes.py VERSION [--draft]. With --draft, [Unreleased] will do."""
import pathlib
import re
import sys

CHANGELOG = pathlib.Path(__file__).resolve().parents[2] / "CHANGELOG.md"


def section(text, name):
    """What is below the heading `## [NAME]`, or None."""
    found = re.search(rf"^## \[{re.escape(name)}\].*?\n(.*?)(?=^## \[|^\[[^\]]+\]: |\Z)", text, re.MULTILINE | re.DOTALL)
    return found and found.group(1).strip()


def main(version, *options):
    text = CHANGELOG.read_text(encoding="utf-8")
    notes = section(text, version)
    if notes is None and "--draft" in options:
        notes = section(text, "Unreleased")
    if not notes:
        raise SystemExit(f"{CHANGELOG.name} has no section [{version}]")
    print(f"# cu264 {version}\n\n{notes}")


if __name__ == "__main__":
    main(*sys.argv[1:])
