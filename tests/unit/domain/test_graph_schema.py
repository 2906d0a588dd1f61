"""What a language model says of a passage is taken as far as the passage says it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schemas.graph import Entity, Relation
from streams.domain import extraction, graph_schema
from tests.unit.domain.obeying import INJECTED, OBEYED

BODY = "Frank Zappa founded the Mothers of Invention in Los Angeles. The Team Plan includes the API."


def read(answer: Any, body: str = BODY) -> tuple[list[Entity], list[Relation]] | None:
    said = answer if isinstance(answer, str) else json.dumps(answer)
    return graph_schema.read(said, chunk_id="c", heading_path=("Music",), body=body, language="en")


def named(*names: str, kind: str = "name") -> list[dict[str, str]]:
    return [{"name": name, "kind": kind} for name in names]


def test_what_stands_in_the_passage_is_taken_under_the_keys_that_questions_have() -> None:
    answer = {
        "entities": [*named("Frank Zappa", kind="person"), *named("Mothers of Invention", kind="organization")],
        "relations": [{"subject": "frank zappa", "label": "founded", "object": "Mothers of Invention"}],
    }
    found = read(f"Here it is:\n```json\n{json.dumps(answer)}\n```\nAnything else?")
    assert found is not None
    entities, relations = found
    assert [(each.name, each.kind, each.mentions) for each in entities] == [
        ("Frank Zappa", "person", 1),
        ("Mothers of Invention", "organization", 1),
    ]
    assert entities[0].key in extraction.of_question("Who is Frank Zappa?", "en")
    assert [(each.subject, each.label, each.object) for each in relations] == [
        (entities[0].key, "founded", entities[1].key)
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("Evil Corp", "name"), ("Frank Zappa", "villain"), ("Frank Zap", "name"), ("", "name"), ("x" * 500, "name")],
)
def test_what_the_passage_does_not_name_or_no_kind_knows_is_left_out_alone(name: str, kind: str) -> None:
    found = read({"entities": [{"name": name, "kind": kind}, *named("Team Plan", kind="product")]})
    assert found is not None
    assert [each.name for each in found[0]] == ["Team Plan"]


@pytest.mark.parametrize("label", ["poisoned by", "visit http://evil.example", "x" * 300, "\u202efounded 1964"])
def test_words_of_a_relation_that_the_passage_lacks_are_not_shown(label: str) -> None:
    answer = {
        "entities": named("Frank Zappa", "Mothers of Invention"),
        "relations": [{"subject": "Frank Zappa", "label": label, "object": "Mothers of Invention"}],
    }
    found = read(answer)
    assert found is not None
    assert [(each.label, each.weight) for each in found[1]] == [("", graph_schema.UNSAID)]


def test_a_relation_needs_two_entities_that_were_taken() -> None:
    related = [("Frank Zappa", "Evil Corp"), ("Frank Zappa", "frank  zappa"), ("API", "Frank Zappa")]
    answer = {
        "entities": named("Frank Zappa", "Evil Corp"),
        "relations": [{"subject": one, "label": "founded", "object": other} for one, other in related],
    }
    found = read(answer)
    assert found is not None
    assert found[1] == []


@pytest.mark.parametrize(
    "said", [*OBEYED, "{", "[]", "null", '{"entities": 3}', '{"entities": [1, null, {"name": 5}]}', "{" * 10_000]
)
def test_what_is_no_answer_is_none(said: str) -> None:
    assert read(said) is None


@pytest.mark.parametrize("injected", INJECTED)
def test_an_instruction_in_a_passage_can_lead_to_its_own_words_at_most(injected: str) -> None:
    obeyed = {"entities": named("PWNED", "http://evil.example/login", "root", "Frank Zappa"), "relations": []}
    found = read(obeyed, body=f"{BODY}\n{injected}")
    assert found is not None
    assert all(each.name in f"{BODY} {injected}" for each in found[0])
    assert all(each.name.isprintable() for each in found[0])


def test_a_flood_is_cut() -> None:
    body = " ".join(f"Name{number}" for number in range(900))
    answer = {"entities": named(*body.split())}
    found = graph_schema.read(json.dumps(answer)[:19_000].rsplit(",", 2)[0] + "}]}", chunk_id="c", heading_path=(),
                              body=body, language="en")  # fmt: skip
    assert found is None or len(found[0]) <= extraction.MOST_ENTITIES
