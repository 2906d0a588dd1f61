"""What of a long text is shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streams.domain.excerpt import head, matching

FILLER = "Nothing of interest is said here at all. " * 30


def test_a_text_that_fits_stays_as_it_is() -> None:
    assert head("short", 5) == "short"
    assert matching("short", 5, {"x": 1.0}, "en") == "short"


def test_the_start_is_kept_by_characters() -> None:
    assert head("one two three", 8) == "one two"
    assert head("one two three", 0) == ""


def test_the_sentence_that_matches_is_kept_wherever_it_stands() -> None:
    text = f"{FILLER}The refund takes 14 days. {FILLER}"
    kept = matching(text, 200, {"refund": 3.0, "day": 1.0}, "en")
    assert "The refund takes 14 days." in kept
    assert len(kept) <= 200
    assert kept.startswith("… ")
    assert kept.endswith(" …")


def test_kept_sentences_answer_as_many_terms_as_they_can_and_stay_in_order() -> None:
    text = f"Exports are weekly. Exports are fast. {FILLER}Errors are logged. {FILLER}"
    kept = matching(text, 90, {"export": 2.0, "error": 2.0}, "en")
    assert kept.index("Exports are weekly.") < kept.index("Errors are logged.")


def test_what_a_leg_found_is_kept_where_no_word_matches() -> None:
    text = f"{FILLER}You get your money back. {FILLER}"
    assert "You get your money back." in matching(text, 150, {"refund": 3.0}, "en", near="You get your money back.")


def test_without_any_match_the_start_is_kept() -> None:
    assert matching(FILLER, 41, {"refund": 1.0}, "en") == FILLER[:41].rstrip()


@given(
    st.text(alphabet="ab. \nАя。refund", max_size=400),
    st.integers(0, 120),
    st.text(max_size=30),
)
def test_any_text_is_kept_within_the_limit_and_adds_nothing_but_gaps(text: str, limit: int, near: str) -> None:
    kept = matching(text, limit, {"refund": 2.0, "a": 1.0}, "en", near=near)
    assert len(kept) <= limit or kept == text
    assert all(" ".join(part.split()) in " ".join(text.split()) for part in kept.split("…"))
