"""Writes python/cu264/option_types.py to standard output: scripts/update-options calls it with _core in PYTHONPATH."""
TYPES = {"whole": "int", "number": "float", "kilobits": "Union[float, str]", "bytes": "int", "flag": "bool", "choice": "str",
         "code_point": "Union[int, str]", "ratio": "FrameRate", "devices": "int", "text": "str"}
OF_A_GROUP = ("backend", "batch", "threads")  # of a StreamGroup, not of its streams

HEAD = '''"""The types of the options' keywords, for type checkers.

Made by scripts/update-options from the library's table of options, encoder/options/; None is the default everywhere.
"""

from __future__ import annotations

from typing import Optional, TypedDict, Union

from .frame_rate import FrameRate
'''


def typed_dict(name, about, options):
    lines = [f"    {option.keyword}: Optional[{TYPES[option.type]}]\n" for option in options]
    return f'\n\nclass {name}(TypedDict, total=False):\n    """{about}"""\n\n' + "".join(lines)


def option_types(options):
    options = [option for option in options if option.keyword and option.group != "input"]
    apart = ("bitrate", *OF_A_GROUP)
    return HEAD + "".join([
        typed_dict("CodingOptions", "Those of every call that encodes.", [o for o in options if o.keyword not in apart]),
        typed_dict("BitrateOption", "The bitrate, which some calls have under a meaning of their own.",
                   [o for o in options if o.keyword == "bitrate"]),
        typed_dict("ExecutionOptions", "Those of a whole group of streams.", [o for o in options if o.keyword in OF_A_GROUP]),
        typed_dict("Changes", "What `Encoder.reconfigure` changes.", [o for o in options if o.change != "never"])])


if __name__ == "__main__":
    import _core

    print(option_types(_core.options()), end="")
