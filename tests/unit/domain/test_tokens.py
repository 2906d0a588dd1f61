"""One way of cutting text into tokens, for passages and questions."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.stopwords import STOP_WORDS
from streams.domain.tokens import LONGEST, question_terms, terms, tokens, words


def found(text: str, language: str = "en") -> list[str]:
    return [token.term for token in tokens(text, language)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("retryBudgetMaxAttempts", ["retrybudgetmaxattempt", "retri", "budget", "max", "attempt"]),
        ("retrybudgetmaxattempts", ["retrybudgetmaxattempt"]),
        ("pool_max_idle_seconds", ["poolmaxidlesecond", "pool", "max", "idl", "second"]),
        ("VPN-200", ["vpn200", "vpn", "200"]),
        ("ORION-1234", ["orion1234", "orion", "1234"]),
        ("E1042", ["e1042", "1042"]),
        ("v2.10", ["2.10"]),
        ("2.14.0", ["2.14.0", "2.14"]),
        ("--no-cache", ["--no-cache", "nocach", "cach"]),
        ("-force", ["forc"]),
        ("C++ C# C", ["c++", "c#", "c"]),
        ("R&D", ["r&d"]),
        (".NET", [".net", "net"]),
        ("mara@birch.example", ["mara@birch.example", "mara", "birch", "exampl"]),
        ("db.birch.example:5432", ["db.birch.example:5432", "db", "birch", "exampl", "5432"]),
        ("50,000 rows", ["50000", "row"]),
        ("2024-01-15", ["2024-01-15", "2024", "01", "15"]),
        ("a1b2c3d4e5", ["a1b2c3d4e5"]),
        ("What's valid when it's changed?", ["valid", "chang"]),
        ('100% "policy" -- ; DROP', ["100", "polici", "drop"]),
        ("\uff2b\uff38\uff17", ["kx7", "kx", "7"]),
    ],
)
def test_names_are_found_whole_and_by_their_parts(text: str, expected: list[str]) -> None:
    assert found(text) == expected


def test_neighbours_share_no_whole_name() -> None:
    assert not set(found("E1042")) & set(found("E1043 E104 E10420 E1024"))
    assert not set(found("v2.1")) & set(found("v2.10 v2.11 v21.0 v1.2.1"))


def test_letter_case_changes_nothing_in_a_code() -> None:
    assert found("e1042") == found("E1042")


def test_parts_stand_at_positions_of_their_own_and_the_whole_at_the_first() -> None:
    assert [tuple(token) for token in tokens("set maxIdleTime now", "en")] == [
        ("set", 0), ("maxidletim", 1), ("max", 1), ("idl", 2), ("time", 3),
    ]  # fmt: skip


def test_stop_words_leave_a_gap() -> None:
    assert [tuple(token) for token in tokens("refund of the plan", "en")] == [("refund", 0), ("plan", 3)]


def test_a_line_of_stop_words_alone_keeps_them() -> None:
    assert found("About us\n\nWho we are and what the refund is") == ["about", "us", "refund"]
    assert found("Help > About us") == ["help", "about", "us"]


def test_an_acronym_is_no_stop_word() -> None:
    assert found("ask IT about it") == ["ask", "it"]
    assert found("WHAT IS THE REFUND") == ["refund"]


def test_accents_of_latin_letters_are_dropped_and_letters_of_their_own_stay() -> None:
    assert found("Zürich", "de") == found("Zurich", "de") == ["zurich"]
    assert found("résumé", "fr") == found("resume", "fr")
    assert found("йод", "ru") == ["йод"]
    assert found("ёлка", "ru") == found("елка", "ru")


def test_words_are_stemmed_by_their_script() -> None:
    assert found("серверы clusters", "ru") == ["сервер", "cluster"]
    assert found("серверы clusters", "en") == ["сервер", "cluster"]


def test_scripts_without_blanks_become_pairs_and_latin_names_in_them_stay() -> None:
    assert found("设备VPN-200手册", "zh") == ["设备", "vpn200", "vpn", "200", "手册"]
    assert found("ลา", "th") == ["ลา"]
    assert found("油", "zh") == ["油"]


def test_vowel_signs_stay_with_their_word() -> None:
    assert len(found("हिन्दी", "xx")) == 1


@pytest.mark.parametrize("text", ["", "\U0001f335\U0001f335", "?!... ---", "()[]{}<>\\/|&", "____"])
def test_a_text_without_words_has_no_tokens(text: str) -> None:
    assert tokens(text, "en") == []
    assert terms(text, "en") == []


def test_a_question_of_stop_words_alone_keeps_them() -> None:
    assert terms("who are you?", "en") == ["who", "are", "you"]
    assert terms("who are you to refund?", "en") == ["refund"]


def test_terms_are_distinct_and_in_order() -> None:
    assert terms("plan refund plan refunds", "en") == ["plan", "refund"]


def test_a_long_question_keeps_its_beginning_its_end_and_its_longest_words() -> None:
    middle = " ".join(f"w{number}q" for number in range(500))
    kept = terms(f"webhook signature {middle} extraordinarily {middle} deadline", "en", limit=8)
    assert kept[:2] == ["webhook", "signatur"]
    assert kept[-1] == "deadlin"
    assert "extraordinarili" in kept
    assert len(kept) == 8


def test_a_term_has_a_limit() -> None:
    assert found("k" * 5_000) == ["k" * LONGEST]


def test_stop_word_lists_are_lower_case() -> None:
    assert all(word == word.lower() for words in STOP_WORDS.values() for word in words)


@pytest.mark.parametrize("text", ["a", "a-", "_", "a.b", "aB", "1,", "c+", "\u0301", "--", "ก"])
def test_no_text_takes_more_than_linear_time(text: str) -> None:
    started = time.perf_counter()
    tokens(text * 200_000, "en")
    assert time.perf_counter() - started < 10


@given(st.text())
def test_any_text_can_be_cut_and_cuts_the_same_in_a_question(text: str) -> None:
    cut = tokens(text, "en")
    assert all(0 < len(token.term) <= LONGEST for token in cut)
    assert set(terms(text, "en")) <= {token.term for token in cut} or not cut


@pytest.mark.parametrize(
    ("text", "language", "whole"),
    [
        ("Error E1042 when exporting to CSV", "en", ["error", "e1042", "export", "csv"]),
        ("release 2.14.0", "en", ["releas", "2.14.0"]),
        ("--no-cache", "en", ["--no-cache"]),
        ("csv-export and export", "en", ["csvexport", "export"]),  # a part here, a word there
        ("who are you", "en", ["who", "are", "you"]),
        ("重置密码", "zh", ["重置", "置密", "密码"]),
        ("", "en", []),
    ],
)
def test_whole_words_of_a_question_are_told_from_parts_of_names(text: str, language: str, whole: list[str]) -> None:
    found = question_terms(text, language)
    assert [found.terms[place] for place in found.words] == whole
    assert list(found.terms) == terms(text, language)


@given(st.text(), st.integers(1, 12))
def test_whole_words_are_places_among_the_terms_that_are_left(text: str, limit: int) -> None:
    found = question_terms(text, "en", limit)
    assert len(found.terms) <= limit
    assert list(found.words) == sorted(set(found.words))
    assert all(0 <= place < len(found.terms) for place in found.words)
    assert {found.terms[place] for place in found.words} <= set(words(text, "en"))


def test_words_are_whole_and_stop_words_are_among_them() -> None:
    assert words("sign in to VPN-200", "en") == ["sign", "in", "to", "vpn200"]
