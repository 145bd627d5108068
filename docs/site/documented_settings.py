"""Griffe reads the package without running it, so it finds SETTINGS in docstrings where `cu264.settings.documented` puts the
table of options. On the site a link to that table stands there."""
from typing import Any

import griffe

LINK = "**settings\n{0}    The keywords of [the table of options](../options.md), by the names of its column *Python*."


class DocumentedSettings(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring and "SETTINGS" in obj.docstring.value:
            lines = obj.docstring.value.splitlines()
            obj.docstring.value = "\n".join(LINK.format(line[:-len("SETTINGS")]) if line.strip() == "SETTINGS" else line for line in lines)
