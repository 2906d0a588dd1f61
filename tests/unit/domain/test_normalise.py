"""Normal forms of text."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.normalise import normalise_question, normalise_text


def test_nul_and_controls_are_removed_and_tabs_and_line_ends_stay() -> None:
    assert normalise_text("rated\0 at\x01 63\tA\n") == "rated at 63\tA\n"


def test_escape_sequences_are_removed_whole() -> None:
    assert (
        normalise_text("\x1b[1;31mred\x1b[0m \x1b]8;;https://a.example\x07link\x1b]8;;\x1b\\ \x9b4mlow\x1b(B")
        == "red link low"
    )


def test_invisible_characters_are_removed_inside_words() -> None:
    assert (
        normalise_text("\ufeffFrame\u200bBuffer\u2060Pool om\u00adbuds \u202eright\u202c")
        == "FrameBufferPool ombuds right"
    )


def test_tag_characters_that_hide_orders_are_removed() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    assert normalise_text(f"plain{hidden} text") == "plain text"


def test_joiners_stay_where_they_shape_letters_or_emoji() -> None:
    persian, family = "می\u200cخواهم", "\U0001f468\u200d\U0001f469"
    assert normalise_text(f"{persian} {family} Thread\u200dPool") == f"{persian} {family} ThreadPool"


def test_composed_and_decomposed_letters_are_one() -> None:
    assert normalise_text("Zu\u0308rich") == normalise_text("Z\u00fcrich") == "Zürich"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028", "\x85", "\f"])
def test_all_line_ends_are_one(end: str) -> None:
    assert normalise_text(f"a{end}b") == "a\nb"


def test_a_lone_surrogate_can_be_stored_afterwards() -> None:
    assert normalise_text("a\ud800b").encode() == "a\ufffdb".encode()


def test_a_question_is_one_line() -> None:
    assert normalise_question("  where\n is\u00a0 my \t invoice?\n") == "where is my invoice?"
    assert normalise_question("\u200b\u200d\ufeff") == ""


def test_a_million_combining_marks_take_no_quadratic_time() -> None:
    started = time.perf_counter()
    assert len(normalise_text("a" + "\u0316\u0301" * 500_000)) <= 31
    assert time.perf_counter() - started < 5


@given(st.text())
def test_what_comes_out_is_clean(text: str) -> None:
    clean = normalise_text(text)
    assert unicodedata.is_normalized("NFC", clean)
    assert not any(unicodedata.category(character) in {"Cc", "Cs"} for character in clean if character not in "\n\t")
