"""Synonyms: what a question is extended by, and what it never loses."""

from __future__ import annotations

import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.synonyms import MOST_ADDED, InvalidSynonyms, Synonyms, parse
from streams.domain.tokens import terms
from tests.conftest import shared

RULES = """
# one way
nps => net promoter score
money back, chargeback => refund
# equivalent
trade mark, trademark
car, vehicle
car tax => vehicle excise duty
возврат, компенсация
密码 => 口令
C++, cpp
at\\, once => now
"""


def expanded(text: str, language: str = "en", rules: str = RULES) -> str:
    return Synonyms(parse(rules)).expand(text, language, len(terms(text, language)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is NPS?", "What is NPS? net promoter score"),
        ("net promoter score", "net promoter score"),  # one way
        ("chargebacks", "chargebacks refund"),
        ("register trade marks", "register trade marks trademark"),
        ("register a trade-mark", "register a trade-mark trade mark"),
        ("two trademarks", "two trademarks trade mark"),
        ("cars", "cars vehicle"),
        ("car tax", "car tax vehicle excise duty"),  # the longest phrase, and not `car` as well
        ("tax a car", "tax a car vehicle"),
        ("car and vehicle", "car and vehicle"),
        ("my money went back", "my money went back"),  # not side by side
        ("cpp", "cpp C++"),
        ("at once", "at once now"),
        ("nothing here", "nothing here"),
        ("", ""),
    ],
)
def test_a_question_is_extended_by_what_stands_in_the_dictionary(text: str, expected: str) -> None:
    assert expanded(text) == expected


def test_words_are_compared_by_their_stems_in_every_language() -> None:
    assert expanded("срок возврата", "ru") == "срок возврата компенсация"
    assert expanded("重置密码", "zh") == "重置密码 口令"


def test_what_is_added_is_never_looked_up() -> None:
    assert expanded("a1", rules="a1 => b1\nb1 => c1\nc1 => a1") == "a1 b1"


def test_two_rules_for_one_phrase_add_both() -> None:
    assert expanded("ghic", rules="ghic => health card\nghic => travel abroad") == "ghic health card travel abroad"


def test_what_does_not_fit_is_left_out_and_a_shorter_phrase_may_still_fit() -> None:
    eleven = " ".join(f"w{n}" for n in range(11))
    other = " ".join(f"v{n}" for n in range(11))
    assert expanded("x1", rules=f"x1 => {eleven}, {other}, last one") == f"x1 {eleven} last one"


def test_a_question_that_fills_the_limit_of_terms_is_left_alone() -> None:
    long = "car " + " ".join(f"word{n}q" for n in range(80))
    assert expanded(long) == long


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        ("a, b\nalone", "line 2: 'alone' stands alone; write `a, b` or `a => b`"),
        ("a =>", "line 1: a phrase is empty"),
        ("=> b", "line 1: a phrase is empty"),
        ("a,, b", "line 1: a phrase is empty"),
        ("# c\n\na => b => c", "line 3: has more than one `=>`"),
        ("a => ???", "line 1: '???' has no word in it"),
        (f"{'w ' * 13}=> b", "has 13 words; a phrase may have 12"),
    ],
)
def test_a_line_that_is_no_rule_is_named(rules: str, says: str) -> None:
    with pytest.raises(InvalidSynonyms) as error:
        parse(rules)
    assert says in str(error.value)


WORD = st.sampled_from(
    [
        "car",
        "cars",
        "vehicle",
        "tax",
        "trade",
        "mark",
        "trademark",
        "nps",
        "money",
        "back",
        "refund",
        "x1",
        "x2",
        "the",
        "a",
    ]
)
PHRASE = st.lists(WORD, min_size=1, max_size=3).map(" ".join)
SIDE = st.lists(PHRASE, min_size=1, max_size=3).map(", ".join)
DICTIONARY = st.lists(st.tuples(SIDE, SIDE).map(" => ".join), max_size=8).map("\n".join)


@given(st.lists(WORD, max_size=30).map(" ".join), DICTIONARY)
def test_a_question_keeps_its_words_first_and_grows_by_a_bounded_number(text: str, rules: str) -> None:
    found = expanded(text, rules=rules)
    assert found.startswith(text)
    assert len(found.removeprefix(text).split()) <= MOST_ADDED
    assert set(terms(text, "en")) - set(terms(found, "en")) <= {"the", "a"}  # kept only where nothing else is


@given(st.text(), DICTIONARY)
def test_any_text_can_be_extended(text: str, rules: str) -> None:
    assert expanded(text, rules=rules).startswith(text)


@given(st.lists(st.sampled_from(["a1", "a2", "b1", "b2", "b3", "c1"]), max_size=10).map(" ".join))
def test_a_second_time_adds_nothing_where_no_rule_leads_to_another(text: str) -> None:
    rules = "a1, a2\nb1, b2, b3"
    once = expanded(text, rules=rules)
    assert expanded(once, rules=rules) == once


@given(st.text(max_size=200))
def test_any_dictionary_is_read_or_refused_by_line(text: str) -> None:
    try:
        parse(text)
    except InvalidSynonyms as error:
        assert 1 <= error.line <= text.count("\n") + 1


def test_a_thousand_rules_are_read_and_applied_fast() -> None:
    raw = yaml.safe_load((shared("data/govuk_synonyms") / "synonyms.yml").read_text())
    text = "\n".join(rule for entry in raw for rule in map(str, entry.values()))
    began = time.perf_counter()
    synonyms = Synonyms(parse(text))
    assert len(synonyms) == 1103
    synonyms.expand("warm up", "en", 2)
    loaded = time.perf_counter()
    question = "self-employed: how do I tax my car abroad, and apply for crisis loans with a drivers licence?"
    for _ in range(100):
        found = synonyms.expand(question, "en", len(terms(question, "en")))
    assert "vehicle" in found
    assert loaded - began < 1.0
    assert (time.perf_counter() - loaded) / 100 < 0.005  # a fifth of a millisecond on a quiet machine


def test_a_caller_cannot_fill_the_memory_with_languages() -> None:
    synonyms = Synonyms(parse(RULES))
    for first in "abcdefghij":
        for second in "abcdefghij":
            synonyms.expand("cars", first + second, 1)
    assert len(synonyms._trees) < 20
