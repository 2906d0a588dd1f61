"""Follow-ups without a language model: which questions need the last turn, and what of it they are given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.queries import Turn
from streams.domain import follow_up


def turns(*texts: str) -> tuple[Turn, ...]:
    """Return a conversation in which the user speaks first."""
    roles = ("user", "assistant")
    return tuple(Turn(role=roles[place % 2], text=text) for place, text in enumerate(texts))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("When did they disband?", "en"),
        ("What is it called outside of the USA?", "en"),
        ("And for annual plans?", "en"),
        ("what about the second one?", "en"),
        ("Why?", "en"),
        ("any awards", "en"),
        ("streaming services on them", "en"),
        ("А сколько она стоит?", "ru"),
        ("почему?", "ru"),
        ("Und was kostet das Paket?", "de"),
        ("Wie lange gilt er?", "de"),
        ("Et pour les étudiants ?", "fr"),
        ("¿Y para estudiantes?", "es"),
        ("E per gli studenti?", "it"),
        ("E para estudantes?", "pt"),
        ("料金", "ja"),
    ],
)
def test_a_question_that_points_back_or_hardly_says_anything_is_a_follow_up(text: str, language: str) -> None:
    assert follow_up.is_follow_up(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How do I reset my password?", "en"),
        ("Is there a refund for annual plans?", "en"),
        ("Which port does the relay use?", "en"),
        ("Как вернуть деньги за годовой тариф?", "ru"),
        ("Wie kündige ich das Abonnement?", "de"),
        ("Comment résilier les abonnements annuels ?", "fr"),
        ("¿Cómo cancelo la suscripción anual?", "es"),
        ("Come annullo gli abbonamenti annuali?", "it"),
    ],
)
def test_a_question_that_stands_alone_is_none(text: str, language: str) -> None:
    assert not follow_up.is_follow_up(text, language)


@pytest.mark.parametrize(
    ("text", "history", "language", "carried"),
    [
        ("Can women play it?", turns("how does the MLS all star game work"), "en", "MLS star game"),
        ("How can I create one?", turns("What is an account?", "A place to log in."), "en", "account"),
        ("А как его отменить?", turns("Сколько стоит годовой тариф?"), "ru", "годовой тариф"),
        ("Und wie kündige ich es?", turns("Was kostet das Jahresabonnement?"), "de", "Jahresabonnement"),
    ],
)
def test_what_the_last_turn_of_the_user_spoke_of_is_carried(
    text: str, history: tuple[Turn, ...], language: str, carried: str
) -> None:
    assert follow_up.carried(text, history, language) == carried


def test_what_the_question_says_itself_is_not_carried_again() -> None:
    assert follow_up.carried("Does it cover the annual plan?", turns("Is the annual plan refunded?"), "en") == ""


def test_nothing_is_carried_without_a_turn_of_the_user_or_into_a_question_that_stands_alone() -> None:
    assert follow_up.carried("When did they disband?", (), "en") == ""
    assert follow_up.carried("When did they disband?", (Turn(role="assistant", text="The Mothers."),), "en") == ""
    assert follow_up.carried("How do I reset my password?", turns("What is an invoice?"), "en") == ""


def test_the_last_turn_counts_and_no_earlier_one() -> None:
    history = turns("What is an invoice?", "A bill.", "What is a relay?", "A switch.")
    assert follow_up.carried("How do I pay for it?", history, "en") == "relay"


def test_what_is_carried_is_bounded() -> None:
    listed = ", ".join(f"Product{number}" for number in range(100))
    found = follow_up.carried("How do I buy it?", turns(listed), "en")
    assert 0 < len(found) <= follow_up.MOST_CHARACTERS
    assert len(found.split()) <= follow_up.MOST_CARRIED


@given(st.text(max_size=80), st.text(max_size=200), st.sampled_from(["en", "ru", "de", "ja", "und", "xx"]))
def test_any_text_may_be_a_question_and_a_turn(text: str, turn: str, language: str) -> None:
    assert len(follow_up.carried(text, turns(turn), language)) <= follow_up.MOST_CHARACTERS
