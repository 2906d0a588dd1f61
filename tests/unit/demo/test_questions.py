"""The demonstration corpus and its questions: every answer that is named is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[3] / "demo"
FILES = {"questions.jsonl": 60, "two-documents.jsonl": 20}


def questions(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DEMO / name).read_text().splitlines()]


@pytest.mark.parametrize("name", FILES)
def test_every_gold_is_a_page_or_a_pair_of_the_corpus(name: str) -> None:
    docs = DEMO / "docs"
    known = {str(path.relative_to(docs)) for path in docs.rglob("*") if path.is_file()}
    known |= {json.loads(line)["id"] for line in (DEMO / "qa.jsonl").read_text().splitlines()}
    asked = questions(name)
    assert {gold for each in asked for gold in each["gold"]} <= known  # type: ignore[attr-defined]
    assert len(asked) == FILES[name]
    assert all(set(each) == {"id", "text", "gold"} and each["text"] for each in asked)
    assert len({each["id"] for each in asked}) == len({each["text"] for each in asked}) == len(asked)


def test_a_question_about_two_documents_names_two() -> None:
    assert [len(set(each["gold"])) for each in questions("two-documents.jsonl")] == [2] * 20  # type: ignore[call-overload]
