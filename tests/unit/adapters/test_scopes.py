"""Scopes as filters of each store."""

from __future__ import annotations

import pytest
from qdrant_client import models

from schemas.queries import Filters
from streams.adapters import postgres_scope, qdrant_scope
from streams.domain.scope import Scope

BARE = Scope(tenant="acme", generation="g1")


def conditions(scope: Scope) -> dict[str, models.FieldCondition]:
    must = qdrant_scope.visible(scope).must
    assert isinstance(must, list)
    return {each.key: each for each in must if isinstance(each, models.FieldCondition)}


def test_every_filter_names_the_tenant_and_whom_a_chunk_is_for() -> None:
    assert set(conditions(BARE)) == {"tenant", "audience"}
    assert conditions(BARE)["audience"].match == models.MatchAny(any=["*"])
    assert conditions(Scope(tenant="acme", generation="g1", agent="bot"))["audience"].match == models.MatchAny(
        any=["*", "bot"]
    )


def test_what_is_not_narrowed_is_null_in_sql() -> None:
    narrowed = {key: value for key, value in postgres_scope.visible(BARE).items() if value is not None}
    assert narrowed == {"tenant": "acme", "generation": "g1"}


def test_a_directory_ends_with_a_slash_in_both() -> None:
    for given in ("billing/eu", "billing/eu/"):
        scope = Scope(tenant="acme", generation="g1", filters=Filters(directory=given))
        assert postgres_scope.visible(scope)["directory"] == "billing/eu/"
        assert conditions(scope)["dirs"].match == models.MatchValue(value="billing/eu/")


@pytest.mark.parametrize(
    ("doc_id", "expected"),
    [("a", []), ("a/b", ["a/"]), ("a/b/c.md", ["a/", "a/b/"]), ("/a/b", ["/", "/a/"]), ("a//b", ["a/", "a//"])],
)
def test_a_document_is_under_every_directory_of_its_id(doc_id: str, expected: list[str]) -> None:
    assert qdrant_scope.directories(doc_id) == expected
    assert all(doc_id.startswith(directory) for directory in expected)


def test_the_lexeme_of_an_owner_is_quoted() -> None:
    assert postgres_scope.owner("acme", "g1") == "'@g1/acme'"
    assert postgres_scope.owner("acme", "g'1") == "'@g''1/acme'"
