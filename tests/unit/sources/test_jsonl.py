"""A file of JSON lines as a source."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from schemas.documents import DocumentChange
from streams.sources import jsonl
from streams.sources.problem import Problem


def read(tmp_path: Path, *lines: dict[str, Any] | str) -> list[DocumentChange | Problem]:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return list(jsonl.read(path, tenant="t", source="s"))


def test_a_line_is_a_document(tmp_path: Path) -> None:
    line = {
        "id": "a/b",
        "title": "T",
        "text": "body",
        "url": "https://x",
        "tags": ["x"],
        "language": "de",
        "metadata": {"k": 1},
        "something": "else",
    }
    [change] = read(tmp_path, line)
    assert change == DocumentChange(
        tenant="t",
        source="s",
        doc_id="a/b",
        version=0,
        title="T",
        content="body",
        uri="https://x",
        tags=("x",),
        language="de",
        metadata={"k": 1},
    )


def test_a_question_with_its_answer_is_a_pair(tmp_path: Path) -> None:
    [first, second] = read(
        tmp_path, {"id": "1", "question": "Q?", "answer": "A."}, {"id": "2", "kind": "qa", "title": "Q?", "text": "A."}
    )
    assert isinstance(first, DocumentChange)
    assert isinstance(second, DocumentChange)
    assert (first.kind, first.question, first.answer) == ("qa", "Q?", "A.")
    assert (second.kind, second.title, second.content) == ("qa", "Q?", "A.")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"id": "1"}', "line 2: text: missing; skipped"),
        ('{"text": "x"}', "line 2: id: missing; skipped"),
        ('{"id": "1", "question": "Q?"}', "line 2: answer: missing; skipped"),
        ('{"id": 7, "text": "x"}', "line 2: id: Expected `str`, got `int`; skipped"),
        ('{"id": "1", "text": 5}', "line 2: text: Expected `str`, got `int`; skipped"),
        ('{"id": "1", "text": "x", "tags": "a"}', "line 2: tags: Expected `array`, got `str`; skipped"),
        (
            '{"id": "", "text": "x"}',
            "line 2: id: must not be empty or hold control characters such as line breaks; skipped",
        ),
        ("[1]", "line 2: not a JSON object; skipped"),
        ('{"id": "good", "text": "again"}', "line 2: id: 'good' is on line 1 already; skipped"),
    ],
)
def test_a_bad_line_is_told_with_its_number_and_field_and_the_others_go_on(
    tmp_path: Path, line: str, says: str
) -> None:
    first, bad, last = read(tmp_path, {"id": "good", "text": "x"}, line, {"id": "last", "text": "x"})
    assert isinstance(first, DocumentChange)
    assert str(bad) == says
    assert isinstance(last, DocumentChange)


def test_blank_lines_count_but_mean_nothing(tmp_path: Path) -> None:
    found = read(tmp_path, "", "   ", "nonsense")
    assert [type(entry) for entry in found] == [Problem]
    assert str(found[0]).startswith("line 3: not JSON")


def test_a_line_of_bytes_or_depth_beyond_reason_stops_nothing(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b"\xff\xfe\n" + b"[" * 100_000 + b'\n{"id": "1", "text": "x"}\n')
    found = list(jsonl.read(path, tenant="t", source="s"))
    assert [type(entry) for entry in found] == [Problem, Problem, DocumentChange]
