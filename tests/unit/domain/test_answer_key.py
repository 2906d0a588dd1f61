"""The key of an answer: all that it depends on, and nothing else."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.queries import Filters, PreparedQuery
from streams.domain.answer_key import answer_key
from streams.domain.profile import Profile
from tests.unit.domain.questions import prepared

PROFILE = Profile(name="general", summary="all legs", legs=("dense", "sparse", "fulltext"))


def key(query: PreparedQuery | None = None, **fields: Any) -> str:
    given = {"profile": PROFILE, "models": ("minilm",), "top_k": 5, "epoch": 7, **fields}
    return answer_key(query or prepared(), **given)


# Who asks and until when says nothing about the answer; every other field has another value here.
SAME = {"query_id": "q2", "ticket": "1-9", "deadline": 200.0}
OTHER = {
    "schema_version": 2,
    "tenant": "other",
    "agent": "desk",
    "text": "refund policies",
    "expanded": "refund policy money back",
    "terms": ("refund",),
    "words": (0,),
    "language": "de",
    "profile": "support",
    "generation": "g2",
    "filters": Filters(tags=("eu",)),
    "legs": ("dense",),
    "candidates": 31,
    "embedder": "bge-small-en-v1.5",
    "carried": "annual plan",
    "phrasings": ("money back rules",),
}


def test_every_field_of_a_question_is_known_here() -> None:
    assert set(SAME) | set(OTHER) == {field.name for field in msgspec.structs.fields(PreparedQuery)}


@pytest.mark.parametrize("field", SAME)
def test_the_same_question_of_somebody_else_has_the_same_key(field: str) -> None:
    assert key(prepared(**{field: SAME[field]})) == key()


@pytest.mark.parametrize("field", OTHER)
def test_every_other_field_of_the_question_changes_the_key(field: str) -> None:
    assert key(prepared(**{field: OTHER[field]})) != key()


@pytest.mark.parametrize(
    "fields",
    [
        {"top_k": 6},
        {"epoch": 8},
        {"models": ("bge",)},
        {"models": ("minilm", "reranker")},
        {"profile": msgspec.structs.replace(PROFILE, floor=0.4)},
        {"profile": msgspec.structs.replace(PROFILE, weights={"dense": 2.0})},
    ],
)
def test_the_profile_the_models_the_number_of_passages_and_the_epoch_change_the_key(fields: dict[str, Any]) -> None:
    assert key(**fields) != key()


@pytest.mark.parametrize(
    "filters",
    [
        Filters(sources=("help",)),
        Filters(tags=("help",)),
        Filters(directory="help"),
        Filters(kinds=("qa",)),
        Filters(kinds=("document",)),
    ],
)
def test_every_filter_changes_the_key(filters: Filters) -> None:
    assert key(prepared(filters=filters)) != key()


def test_filters_that_let_the_same_through_are_the_same() -> None:
    one = Filters(sources=("a", "b"), tags=("x", "y"), directory="billing", kinds=("qa", "document"))
    two = Filters(sources=("b", "a", "b"), tags=("y", "x"), directory="billing/", kinds=("document", "qa", "qa"))
    assert key(prepared(filters=one)) == key(prepared(filters=two))


def test_the_key_names_its_tenant_and_says_nothing_of_the_question() -> None:
    assert re.fullmatch(r"answers:acme:[0-9a-f]{64}", key())


QUESTIONS = st.tuples(
    st.sampled_from(["acme", "acme.eu", "other"]),
    st.none() | st.sampled_from(["bot", "desk"]),
    st.text(alphabet='ab",:{}[]\n 1', max_size=6),
    st.lists(st.sampled_from(["a", "b", "a,b"]), max_size=2, unique=True).map(lambda found: tuple(sorted(found))),
    st.sampled_from(["", "a/", "a,b/"]),
    st.integers(1, 12),
    st.integers(0, 120),
)


@given(QUESTIONS, QUESTIONS)
def test_two_questions_share_a_key_only_when_they_are_the_same(one: tuple[Any, ...], other: tuple[Any, ...]) -> None:
    assert (of(one) == of(other)) == (one == other)


def of(question: tuple[Any, ...]) -> str:
    tenant, agent, text, tags, directory, top_k, epoch = question
    filters = Filters(tags=tags, directory=directory)
    return key(prepared(tenant=tenant, agent=agent, text=text, filters=filters), top_k=top_k, epoch=epoch)
