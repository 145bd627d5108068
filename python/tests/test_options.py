"""What the library's table of options gives the package: keywords, their types and their documentation."""

import inspect
import pathlib
import re
import sys

import pytest

import cu264
from cu264 import _core, option_types, settings

OPTIONS = [option for option in _core.options() if option.keyword and option.group != "input"]
SCRIPTS = pathlib.Path(__file__).parents[2] / "scripts/lib"


def keywords(of):
    return set(of.__annotations__)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.keyword)
def test_every_option_has_a_type_and_is_documented(option):
    assert option.keyword in keywords(settings.VideoSettings)
    assert (option.keyword in keywords(option_types.Changes)) == (option.change != "never")
    for call in (cu264.encode, cu264.write_video, cu264.VideoWriter, cu264.StreamEncoder, cu264.Encoder):
        entry = re.search(rf"^    {option.keyword} : (\S.*)\n        \S", call.__doc__, re.M)
        assert entry, call
        assert all(f'"{choice}"' in entry[1] for choice in option.choices if option.type == "choice")
    assert (option.change != "never") == bool(re.search(rf"\b{option.keyword}\b", cu264.Encoder.reconfigure.__doc__))


def test_every_setting_is_documented():
    documented = set(re.findall(r"^    (\w+) : ", settings.SETTINGS_DOC, re.M))
    assert documented == keywords(settings.VideoSettings)
    assert max(map(len, settings.SETTINGS_DOC.splitlines())) <= 128
    assert "SETTINGS" not in cu264.encode.__doc__ and "CHANGES" not in cu264.Encoder.reconfigure.__doc__


def test_groups_of_settings():
    assert keywords(settings.StreamSettings) == keywords(settings.VideoSettings) - {"backend", "batch", "threads"}
    assert keywords(settings.ExportSettings) == keywords(settings.VideoSettings) - {"bitrate"}


def test_the_types_are_current(monkeypatch):
    if not SCRIPTS.is_dir():
        pytest.skip("the scripts are not here")
    monkeypatch.syspath_prepend(SCRIPTS)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    import make_option_types

    assert make_option_types.option_types(_core.options()) == inspect.getsource(option_types), "run scripts/update-options"


@pytest.mark.parametrize("option", [option for option in OPTIONS if option.choices and option.type != "code_point"],
                         ids=lambda option: option.keyword)
def test_every_choice_is_taken(option):
    given = (True, False) if option.type == "flag" else option.choices
    more = {"bitrate": 10**6} if option.keyword == "cbr" else {}
    for value in given:
        made = dict(settings.make_settings(25, **{option.keyword: value}, **more).options)
        assert made[option.name] in option.choices
    assert settings.make_settings(25, **{option.keyword: None}) == settings.make_settings(25)


def test_new_keywords(clip):
    assert cu264.encode(clip, 25, level="4.1", chroma_location=None) == cu264.encode(clip, 25, level="4.1")
    with pytest.raises(ValueError, match="level"):
        cu264.encode(clip, 25, level="9")
    with pytest.raises(ValueError, match="chroma"):  # RGB's lies in the middle
        cu264.encode(clip, 25, chroma_location=0)


def test_a_pipeline_leaves_what_is_given_besides(clip):
    whole = cu264.encode(clip, 25, pipeline="published", container="h264")
    assert cu264.encode(clip, 25, pipeline="published", edge_guided=0, container="h264") == cu264.encode(
        clip, 25, cavlc=True, container="h264")
    assert cu264.encode(clip, 25, pipeline="published", edge_guided=2, container="h264") == whole
