"""Runs the code of a guide, block after block, in a fresh folder: guides_test.py GUIDE.md

Blocks of `sh` run in bash with the built command in PATH. Those of `python` run in this process and share their names. A
comment before a block says more about it:

  <!-- setup          code that the page does not show: the comment holds it, and its first line ends in sh or python
  <!-- shows -->      the next block, of text, is what the block before it printed; `...` stands for any text
  <!-- needs: X -->   the block runs only where X is

Without --marked blocks that need something are left out. With it they are run too, and the exit status is 77 if one of them
was skipped, or if nothing ran: so ctest shows what was not tried.
"""
import contextlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

COMMAND = os.path.abspath(os.environ.get("CU264", "build/bin/cu264"))
ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
BLOCK = re.compile(r"^(?:<!-- setup (?P<setup>\w+)\n(?P<hidden>.*?)^-->|(?:<!-- (?P<mark>shows|needs: [\w, -]+) -->\n)?"
                   r"(?P<indent> *)```(?P<kind>\w+).*?\n(?P<code>.*?)^(?P=indent)```)", re.M | re.S)


def has_gpu():
    devices = subprocess.run([COMMAND, "devices"], stdout=subprocess.PIPE, universal_newlines=True).stdout
    return bool(re.search(r"^cuda +usable", devices, re.M))


def is_there(need):
    """Whether this machine has what a block needs; a word that is not listed here is a Python package."""
    programs = {"ffmpeg-libcu264": ["ffmpeg", "-hide_banner", "-h", "encoder=libcu264"], "gstreamer": ["gst-inspect-1.0", "cu264enc"]}
    if need == "gpu":
        return has_gpu()
    if need == "compiler":
        return bool(shutil.which("c++") and os.environ.get("CU264_BUILD"))
    if need in programs:
        if not shutil.which(programs[need][0]):
            return False
        done = subprocess.run(programs[need], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        return done.returncode == 0 and "not recognized" not in done.stdout
    if need == "bucket":
        return False
    import importlib.util
    return importlib.util.find_spec(need) is not None


class Blocks(list):
    def __init__(self, text):
        for found in BLOCK.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            if found.group("setup"):
                self.append((line, found.group("setup"), found.group("hidden"), "setup"))
                continue
            indent = len(found.group("indent"))
            code = "".join(each[indent:] or "\n" for each in found.group("code").splitlines(True))
            self.append((line, found.group("kind"), code, found.group("mark") or ""))


def run_shell(code):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True, timeout=120)
    if done.returncode:
        raise AssertionError("exit status %d\n%s" % (done.returncode, done.stdout))
    return done.stdout


def run_python(code, names, where):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, where, "exec"), names)
    return printed.getvalue()


def expect(printed, shown):
    pattern = ".*?".join(re.escape(part) for part in shown.strip().split("..."))
    lines = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    if not re.fullmatch(pattern, lines, re.S):
        raise AssertionError("the guide shows\n%s\nbut this was printed:\n%s" % (shown, lines))


def run(guide, only_marked):
    names, printed, skipped, ran = {"__name__": "guide"}, None, [], 0  # printed is None after a block that did not run
    for line, kind, code, mark in Blocks(guide.read_text(encoding="utf-8")):
        where = "%s:%d" % (guide.name, line)
        needs = mark[7:].split(", ") if mark.startswith("needs: ") else []
        missing = [need for need in needs if not is_there(need)]
        if needs and not only_marked or missing:
            printed = None
        if needs and not only_marked:
            continue
        if missing:
            skipped.append("%s needs %s" % (where, ", ".join(missing)))
            continue
        try:
            if mark == "shows":
                if printed is not None:
                    expect(printed, code)
            elif kind == "sh":
                printed = run_shell(code)
            elif kind == "python":
                printed = run_python(code, names, where)
            else:
                continue
        except Exception:
            print("%s failed:\n%s" % (where, code), file=sys.stderr)
            raise
        ran += mark not in ("shows", "setup")
    return ran, skipped


def main():
    arguments = [each for each in sys.argv[1:] if each != "--marked"]
    only_marked = "--marked" in sys.argv
    guide = pathlib.Path(arguments[0]).resolve()
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(COMMAND), os.path.dirname(os.path.abspath(sys.executable)), os.environ["PATH"]])
    with tempfile.TemporaryDirectory(prefix="cu264-guide-") as folder:
        os.symlink(ROOT / "samples", os.path.join(folder, "samples"))
        os.chdir(folder)
        try:
            ran, skipped = run(guide, only_marked)
        finally:
            os.chdir("/")
    print("%s: %d blocks ran" % (guide.name, ran))
    for each in skipped:
        print("skipped: " + each)
    return SKIPPED if skipped or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
