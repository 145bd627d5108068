"""A short run of fuzz_clips.py."""

import warnings

import pytest

pytest.importorskip("av", reason="PyAV is not installed")
pytest.importorskip("ray.data", reason="ray[data] is not installed")

import fuzz_clips  # noqa: E402


def test_altered_clips_are_coded_or_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of odd sizes
        coded, refused = fuzz_clips.run(100, 7)
    assert coded > 5 and refused > 20
