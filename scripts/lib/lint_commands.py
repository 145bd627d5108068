"""lint_commands.py BUILD FOLDERS [LAUNCHER]: prints a command for each C++ source of the build in the folders, a regular expression.

Each runs clang-tidy as the build compiles the file, by way of lib/clang_tidy_as_compiler and the launcher.
"""
import json
import pathlib
import re
import shlex
import sys

build, folders, *launcher = sys.argv[1:]
out = pathlib.Path(build, "lint")
out.mkdir(exist_ok=True)
wrapper = pathlib.Path(__file__).with_name("clang_tidy_as_compiler")
for number, entry in enumerate(json.loads(pathlib.Path(build, "compile_commands.json").read_text())):
    source = entry["file"]
    if not (source.endswith(".cpp") and re.match(folders, source)):
        continue
    words = shlex.split(entry["command"])
    at = words.index("-o")
    compiler, flags = words[0], words[1:at]
    tidy = ["clang-tidy", "--quiet", f"--header-filter={folders}", source, "--", *flags]
    print(shlex.join(["cd", entry["directory"]]), "&& LINT_COMPILER=" + shlex.quote(compiler), "LINT_COMMAND=" + shlex.quote(shlex.join(tidy)),
          shlex.join([*launcher, str(wrapper), *flags, "-o", str(out / f"{number}.o"), "-c", source]))
