"""Which questions are broad, and by what an overview is looked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.broad import Broad, broad


@pytest.mark.parametrize(
    ("text", "language", "terms"),
    [
        ("Give me an overview of billing", "en", ("bill",)),
        ("What topics are covered?", "en", ()),
        ("What are the main topics of the documentation?", "en", ()),
        ("Can you summarise the export options?", "en", ("export", "option")),
        ("A summary of Canopy, please", "en", ("canopi",)),
        ("How do plans work in general?", "en", ("plan", "work")),
        ("What is this all about?", "en", ()),
        ("Дай обзор тарифов", "ru", ("тариф",)),
        ("Какие темы в документации?", "ru", ()),
        ("Gib mir einen Überblick", "de", ()),
    ],
)
def test_words_that_ask_for_an_overview_make_a_question_broad_even_where_its_names_are_known(
    text: str, language: str, terms: tuple[str, ...]
) -> None:
    assert broad(text, language, known=True) == Broad(terms=terms, share=0.5, by_words=True)


@pytest.mark.parametrize(
    "text",
    [
        "Error E1042 when exporting to CSV",
        "Which plans include the API?",
        "How do I get a refund?",
        "Which topics does the exporter write?",
        "What does the overall limit mean?",
        "",
    ],
)
def test_other_questions_are_not_broad_where_the_graph_knows_what_they_name(text: str) -> None:
    assert broad(text, "en", known=True) is None


def test_a_question_that_names_nothing_known_may_be_broad_and_then_nearly_all_its_words_have_to_be_there() -> None:
    assert broad("how is money returned", "en", known=False) == Broad(
        terms=("money", "return"), share=0.75, by_words=False
    )
    assert broad("how is it done?", "en", known=False) is None
    assert broad("frobnicator", "en", known=False) is None
    assert broad("what is error E1042", "en", known=False) is None


@given(st.text(max_size=200), st.sampled_from(["en", "ru", "de", "und", "zh"]), st.booleans())
def test_any_text_is_judged_without_harm(text: str, language: str, known: bool) -> None:
    found = broad(text, language, known=known)
    assert found is None or all(found.terms)
