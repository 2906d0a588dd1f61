"""Other phrasings are taken line by line, as far as they ask for nothing new."""

from __future__ import annotations

import pytest

from streams.domain import phrasing
from tests.unit.domain.obeying import OBEYED


def test_lines_are_taken_without_bullets_and_repeats_up_to_the_number() -> None:
    said = "1. How are refunds made?\n- how ARE refunds made?\n\n* Getting money back\n(3) Returning an order\nA fourth"
    found = phrasing.read(said, "How do I get a refund?", 3)
    assert found == ("How are refunds made?", "Getting money back", "Returning an order")


@pytest.mark.parametrize("said", ["How do I get a refund?", "Here they are:", "", "x" * 301, "refund after 90 days"])
def test_nothing_new_is_no_answer(said: str) -> None:
    assert phrasing.read(said, "How do I get a refund?", 3) is None


@pytest.mark.parametrize("said", OBEYED)
def test_what_an_obeying_model_says_brings_no_number_and_no_address(said: str) -> None:
    for found in phrasing.read(said, "How do I get a refund?", 3) or ():
        assert found.isprintable()
        assert not any(c.isdigit() for c in found) and "evil" not in found
        assert len(found) <= phrasing.LONGEST
