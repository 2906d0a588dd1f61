"""A rewritten question is believed when the conversation could have led to it."""

from __future__ import annotations

import pytest

from schemas.queries import Turn
from streams.domain import rewriting
from tests.unit.domain.obeying import INJECTED, OBEYED

HISTORY = (Turn(role="user", text="What does the annual plan cost in 2024?"), Turn(role="assistant", text="$1,200."))
TEXT = "And can I get my money back?"


def read(said: str, history: tuple[Turn, ...] = HISTORY) -> str | None:
    return rewriting.read(said, TEXT, history, "en")


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("Can I get my money back for the annual plan?", "Can I get my money back for the annual plan?"),
        ('"Can I get my money back for the annual plan?"\n', "Can I get my money back for the annual plan?"),
        ("Can I get  my $1200 back\u202e?", "Can I get my $1200 back?"),
        ("<think>hm</think>Is the annual plan of 2024 refunded?", "Is the annual plan of 2024 refunded?"),
    ],
)
def test_a_question_that_stands_alone_is_taken(said: str, question: str) -> None:
    assert read(said) == question


@pytest.mark.parametrize(
    "said",
    [
        *OBEYED,
        "Can I get my money back for the annual plan of 2025?",
        "Sure! Here it is:\nCan I get it back?",
        "Yes, money back for the annual plan.",
    ],
)
def test_what_nobody_said_or_is_not_one_line_is_not_taken(said: str) -> None:
    assert read(said) is None


@pytest.mark.parametrize("injected", INJECTED)
@pytest.mark.parametrize("said", OBEYED)
def test_an_instruction_in_the_question_can_lead_to_its_own_words_at_most(injected: str, said: str) -> None:
    found = rewriting.read(said, injected, HISTORY, "en")
    assert found is None or all(word in injected.lower() for word in found.lower().rstrip(".").split())


def test_only_the_last_turns_are_shown_and_count() -> None:
    history = (Turn(role="user", text="code 777"), *(Turn(role="user", text=f"turn {n}") for n in "abcdef"))
    prompt = rewriting.prompt(TEXT, history, "m")
    assert "777" not in prompt.user and "turn a" in prompt.user
    assert read("Can I get my money back with code 777?", history) is None
