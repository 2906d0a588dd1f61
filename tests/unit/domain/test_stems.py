"""Stems and stop words by word."""

import re

import pytest

from streams.domain import stems


@pytest.mark.parametrize("language", sorted(stems._STEMMERS))
def test_every_named_stemmer_exists(language: str) -> None:
    assert stems._stemmer(language) is not None


def test_a_language_without_a_stemmer_keeps_its_words() -> None:
    assert stems.stem("refunds", "vi") == "refunds"


def test_stems_are_those_of_the_pure_python_stemmer() -> None:
    stemmer = stems._stemmer("en")
    assert stemmer is not None
    assert re.match(r"snowballstemmer\.\w+_stemmer", stemmer.__module__)


def test_tones_that_make_other_words_stay() -> None:
    assert stems.stem("má", "vi") == "má"
    assert stems.stem("má", "xx") == "ma"


def test_common_words_are_those_of_the_words_script() -> None:
    assert "the" in stems.stop_words("the", "ru")
    assert "это" in stems.stop_words("это", "en")
    assert not stems.stop_words("the", "vi")
