"""Postgres literals made of our own tokens."""

import re

from hypothesis import given
from hypothesis import strategies as st

from streams.domain.lexemes import (
    LAST_POSITION,
    LONGEST_LEXEME,
    LONGEST_VECTOR,
    MOST_POSITIONS,
    quote,
    tsquery,
    tsvector,
)

_LEXEME = re.compile(r"'((?:[^'\\]|''|\\\\)*)'")


def test_headings_weigh_more_than_the_body_and_stand_before_it() -> None:
    assert tsvector(("Refunds", "Annual plan"), "Refunds of a plan.", "en") == "'refund':1A,10 'annual':2A 'plan':3A,13"


def test_a_text_without_words_has_an_empty_vector() -> None:
    assert tsvector((), "\U0001f335", "en") == ""
    assert tsquery([]) == ""


def test_any_one_term_is_enough() -> None:
    assert tsquery(["refund", "2.10", "refund"]) == "'refund' | '2.10'"


def test_a_prefix_is_marked_outside_the_quotes() -> None:
    assert tsquery(["refun", "x:*", "it's"], prefix=True) == "'refun':* | 'x:*':* | 'it''s':*"
    assert tsquery(["\0", ""], prefix=True) == ""


def test_quotes_and_backslashes_stay_inside_their_lexeme() -> None:
    assert tsquery(["it's", "a\\", "x:* & !y"]) == "'it''s' | 'a\\\\' | 'x:* & !y'"


def test_a_long_lexeme_is_cut_between_characters() -> None:
    assert quote("ü" * 2_000) == f"'{'ü' * (LONGEST_LEXEME // 2)}'"


def test_a_frequent_word_has_a_limited_number_of_positions() -> None:
    vector = tsvector((), "plan " * 1_000, "en")
    assert vector.count(",") + 1 == MOST_POSITIONS


def test_words_behind_the_last_position_are_found_without_one() -> None:
    vector = tsvector((), "plan " * LAST_POSITION + "refund", "en")
    assert vector.endswith(" 'refund'")


def test_a_vector_stays_under_a_megabyte() -> None:
    assert len(tsvector((), " ".join(f"word{number}x" for number in range(100_000)), "en").encode()) <= LONGEST_VECTOR


@given(st.lists(st.text()))
def test_any_text_is_safe_in_a_query(terms: list[str]) -> None:
    query = tsquery(terms)
    assert "\0" not in query
    assert re.fullmatch(rf"({_LEXEME.pattern}( \| {_LEXEME.pattern})*)?", query)


@given(st.text())
def test_any_text_is_safe_in_a_vector(text: str) -> None:
    pattern = rf"{_LEXEME.pattern}(:\d+A?(,\d+A?)*)?"
    assert re.fullmatch(rf"({pattern}( {pattern})*)?", tsvector((text,), text, "en"))
