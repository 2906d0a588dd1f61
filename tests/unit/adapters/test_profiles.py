"""Profiles from a folder: what replaces what, and one clear line for each thing that may be wrong."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import pytest

from streams.adapters import profiles
from streams.domain.profile import Profile
from streams.errors import ConfigurationError

GOOD = 'name = "short"\nsummary = "s"\nlegs = ["dense", "sparse"]\n'
BAD = {
    "not TOML": (GOOD + "passages =\n", "is not TOML: Invalid value (at line 4, column 11)"),
    "not UTF-8": (GOOD.encode() + b"\xff", "is not TOML: 'utf-8' codec can't decode byte 0xff"),
    "an unknown field": (GOOD + "passage = 3\n", "passage: is no field of a profile; did you mean passages?"),
    "a field like no other": (GOOD + "zzzz = 3\n", "zzzz: is no field of a profile; there are name, summary, legs,"),
    "a missing field": ('name = "short"\nlegs = ["dense"]\n', "summary: is missing; add it"),
    "another name": (GOOD.replace("short", "shorter"), "name: is 'shorter'; it must be 'short', as the file is called"),
    "an unknown leg": (GOOD.replace("sparse", "bm25"), "legs[1]: Invalid enum value 'bm25'; it must be one of dense,"),
    "no leg": (GOOD.replace('"dense", "sparse"', ""), "legs: Expected `array` of length >= 1"),
    "a negative weight": (GOOD + "weights = {dense = -1}\n", "weights.dense: is -1; it must be a number, 0 or more"),
    "a weight that is no number": (GOOD + "weights = {dense = nan}\n", "weights.dense: is nan; it must be a number"),
    "a weight that is a word": (GOOD + 'weights = {dense = "x"}\n', "weights.dense: is 'x'; it must be a number"),
    "a weight of no leg": (GOOD + "weights = {fulltext = 1}\n", "weights.fulltext: fulltext is not among the legs"),
    "an endless budget": (GOOD + "budget = inf\n", "budget: is inf; it must be a finite number"),
    "a wrong type": (GOOD + 'passages = "3"\n', "passages: Expected `int`, got `str`"),
    "an unknown score": (GOOD + 'score = "best"\n', "score: Invalid enum value 'best'; it must be one of coverage,"),
    "no stemmer": (GOOD + 'language = "xx"\n', "language: there is no stemmer for 'xx'; there are ar,"),
    "a floor under ranks": (GOOD + "floor = 0.4\n", "floor: a rank fusion score supports no threshold; set score ="),
    "a leg that does not run": (GOOD + "qa_prefix = true\n", "qa_prefix: nothing uses it without the leg qa;"),
    "no dictionary": (GOOD + 'synonyms = "x.txt"\n', "synonyms: there is no file 'x.txt'; the path begins at"),
}


def folder_of(tmp_path: Path, text: str | bytes, name: str = "short.toml") -> Path:
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path


@pytest.mark.parametrize("what", BAD)
def test_what_is_wrong_with_a_profile_is_one_line_with_file_and_field(tmp_path: Path, what: str) -> None:
    text, says = BAD[what]
    with pytest.raises(ConfigurationError) as error:
        profiles.load(folder_of(tmp_path, text))
    assert str(error.value).startswith(f"{tmp_path / 'short.toml'}: {says}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("dictionary", "says"),
    [
        (b"a, b\nalone\n", "line 2: 'alone' stands alone; write `a, b` or `a => b`"),
        (b"a => b => c\n", "line 1: has more than one `=>`"),
        (b"a, \xff\n", "is not UTF-8"),
    ],
)
def test_a_malformed_dictionary_is_named_with_its_line_and_its_profile(
    tmp_path: Path, dictionary: bytes, says: str
) -> None:
    (tmp_path / "x.txt").write_bytes(dictionary)
    with pytest.raises(ConfigurationError) as error:
        profiles.load(folder_of(tmp_path, GOOD + 'synonyms = "x.txt"\n'))
    assert str(error.value).startswith(f"{tmp_path / 'x.txt'}: {says}")
    assert str(error.value).endswith(f"(synonyms of {tmp_path / 'short.toml'})")


def test_a_folder_must_be_there_and_be_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"RANKSTREAM_PROFILES: .*/nowhere does not exist; name the folder"):
        profiles.load(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="is no folder"):
        profiles.load(tmp_path / "file")


def test_own_profiles_stand_beside_the_shipped_ones(tmp_path: Path) -> None:
    shipped = profiles.shipped()
    (tmp_path / "notes.md").write_text("no profile")
    assert profiles.load(tmp_path).by_name == shipped
    found = profiles.load(folder_of(tmp_path, "\ufeff" + GOOD))
    assert found.by_name == {**shipped, "short": Profile(name="short", summary="s", legs=("dense", "sparse"))}
    assert found.files["short"] == str(tmp_path / "short.toml")


def test_a_file_of_a_shipped_name_replaces_it(tmp_path: Path) -> None:
    found = profiles.load(folder_of(tmp_path, GOOD.replace("short", "general"), "general.toml"))
    assert set(found.by_name) == set(profiles.shipped())
    assert found.by_name["general"].summary == "s"
    assert "general" not in found.synonyms


def test_a_dictionary_is_read_from_beside_its_profile(tmp_path: Path) -> None:
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "help.txt").write_text("refund, money back\n")
    found = profiles.load(folder_of(tmp_path, GOOD + 'synonyms = "words/help.txt"\n'))
    assert found.synonyms["short"].expand("refunds", "en", 1) == "refunds money back"


def test_weights_that_lack_a_model_or_look_at_nothing_are_refused_with_their_file(tmp_path: Path) -> None:
    folder = tmp_path / "weights"
    folder.mkdir()
    whole = json.loads(resources.files("streams.profiles").joinpath("weights/all-MiniLM-L6-v2-int8.json").read_bytes())
    file = folder / "mine.json"
    file.write_text(json.dumps(whole))
    assert "all-MiniLM-L6-v2-int8" in profiles.weights(tmp_path)
    for legs in whole["models"]:
        lame = {name: model for name, model in whole["models"].items() if name != legs}
        file.write_text(json.dumps({**whole, "models": lame}))
        with pytest.raises(ConfigurationError, match=rf"mine.json: models: has no '{re.escape(legs)}'"):
            profiles.weights(tmp_path)
    signal = next(iter(whole["models"]["dense"]["signals"].values()))
    whole["models"]["dense"]["signals"]["shoe_size"] = signal
    file.write_text(json.dumps(whole))
    with pytest.raises(ConfigurationError, match=r"models\.dense: shoe_size is no signal"):
        profiles.weights(tmp_path)
