"""The context of a chunk: no number that the model did not see, and words that the chunk lacks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain import chunk_context, prompts, tokens
from tests.unit.domain.obeying import OBEYED

DOCUMENT = "Refund policy\n\nAnnual plans are refunded within 30 days. The fee of 2.50 € is kept."
CHUNK = "Refunds of annual plans take 30 days."


def read(said: str, document: str = DOCUMENT, chunk: str = CHUNK) -> str | None:
    return chunk_context.read(said, document=document, chunk=chunk, language="en")


def test_sentences_come_first_and_then_the_words_that_the_chunk_lacks() -> None:
    said = "From the refund policy: annual plans.\nWORDS: money back, refunds, cancellation, annual plans, money back"
    assert read(said) == "From the refund policy: annual plans. money back, cancellation."


def test_a_sentence_or_word_with_a_number_nobody_wrote_is_dropped_alone() -> None:
    said = "The refund policy has 30 days. It had 14 days. The fee is 2.50 €. WORDS: x"
    assert read(said) == "The refund policy has 30 days. The fee is 2.50 €."
    assert read("It is the refund policy.\nWORDS: return in 60 days, give back in 30 days") == (
        "It is the refund policy. give back in 30 days."
    )


def test_at_most_eight_words_and_three_sentences_are_kept() -> None:
    listed = ", ".join(f"word{letter}" for letter in "abcdefghijkl")
    found = read("Refund. " * 9 + f"\nWORDS: {listed}")
    assert found == "Refund. Refund. Refund. " + ", ".join(f"word{letter}" for letter in "abcdefgh") + "."


@pytest.mark.parametrize("said", OBEYED)
def test_what_an_obeying_model_says_brings_no_number_and_no_address(said: str) -> None:
    found = read(said) or ""
    assert prompts.numbers(found) <= {"30", "2.50"}
    assert "evil" not in found and (not found or found.isprintable())


NUMBERS = (
    st.integers(0, 99_999).map(str) | st.decimals(0, 999, places=2).map(str) | st.sampled_from(["٤٢", "1,000", "½"])
)
TEXTS = st.lists(st.sampled_from(["refund", "plan", "within", "days", ".", "\n", "WORDS:", ","]) | NUMBERS, max_size=30)


@given(TEXTS, TEXTS, TEXTS)
def test_every_number_of_a_context_stands_in_the_text(said: list[str], document: list[str], chunk: list[str]) -> None:
    seen = " ".join([*document, *chunk])
    found = read(" ".join(said), " ".join(document), " ".join(chunk))
    assert prompts.numbers(found or "") <= prompts.numbers(seen) | prompts.numbers(" ".join([*document, "\n", *chunk]))
    digits = set(re.findall(r"\d", found or ""))
    assert not digits or digits & set(re.findall(r"\d", seen + "42"))


@given(st.text(max_size=300), st.text(max_size=100))
def test_any_answer_gives_a_bounded_context_of_words_that_the_chunk_lacks(said: str, chunk: str) -> None:
    found = read(f"WORDS: {said}", chunk=chunk)
    if found is not None:
        assert len(found) <= chunk_context.LONGEST + chunk_context.MOST_WORDS * (chunk_context.LONGEST_WORD + 2) + 1
        lacked = set(tokens.terms(found, "en")) - set(tokens.terms(chunk, "en"))
        assert lacked


def test_the_document_is_shown_around_the_chunk_nearest_first() -> None:
    bodies = ["a" * 10, "b" * 10, "c" * 10, "d" * 10]
    assert chunk_context.around(bodies, 2, limit=22) == "b" * 10 + "\n\n" + "c" * 10
    assert chunk_context.around(bodies, 2, limit=34) == "\n\n".join(bodies[1:])
    assert chunk_context.around(bodies, 0, limit=1_000) == "\n\n".join(bodies)
    assert chunk_context.around(["x" * 50], 0, limit=20) == "x" * 20
