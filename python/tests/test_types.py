"""Type checkers know every call: a sample passes both in strict mode, and mistakes do not."""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import typed_sample

HERE = pathlib.Path(__file__).parent
PACKAGE = pathlib.Path(importlib.util.find_spec("cu264").origin).parent
SAMPLE, MISTAKES = HERE / "typed_sample.py", HERE / "typed_mistakes.py"


def mistakes():
    return {(MISTAKES.name, i) for i, line in enumerate(MISTAKES.read_text().splitlines(), 1) if line.endswith("# wrong")}


def run(command, folder):
    """Returns where a checker finds errors in the two programs, and in the package where it looks into that."""
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent), "PYTHONPATH": str(PACKAGE.parent)}
    for source in (SAMPLE, MISTAKES):
        shutil.copy(source, folder)
    command = [*command, SAMPLE.name, MISTAKES.name]
    output = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300).stdout
    found = re.findall(r"^\s*(\S+?):(\d+):.*?\berror: ", output, re.M)
    return {(os.path.basename(path), int(line)) for path, line in found}, output


def test_the_sample_runs(tmp_path):
    typed_sample.main(tmp_path)


def test_what_type_checkers_need_is_there():
    assert (PACKAGE / "py.typed").is_file() and (PACKAGE / "_core.pyi").is_file()


def test_mypy(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    found, output = run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache"], tmp_path)
    assert found == mistakes(), output


def test_pyright(tmp_path):
    """basedpyright is pyright in a package that needs nothing from elsewhere."""
    checker = shutil.which("basedpyright", path=os.path.dirname(sys.executable))
    if checker is None:
        pytest.skip("basedpyright is not installed")
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(PACKAGE.parent)], "pythonVersion": "3.11"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    found, output = run([checker, "--pythonpath", sys.executable], tmp_path)
    assert found == mistakes(), output
