"""Labelled sets: what is read of them, and one clear line for everything that is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streams.quality import dataset
from streams.quality.dataset import InvalidDataset

PAGE = "# Relay\n\nIt relays.\n\n## Ports\n\nIt uses 8443.\n\n### UDP\n\nAnd 8444."
CORPUS = [{"id": "relay", "title": "Relay", "text": PAGE}, {"id": "plans", "title": "Plans", "text": "Two plans."}]
QUERIES = [{"id": "q1", "text": "Which port?"}, {"id": "q2", "text": "Which plans?", "language": "en", "type": "x"}]
QRELS = ["query-id\tdoc-id\tgrade", "q1\trelay#Relay > Ports\t2", "q2\tplans\t1"]


def written(
    folder: Path, corpus: list[object] = CORPUS, queries: list[object] = QUERIES, qrels: list[str] = QRELS
) -> Path:
    for name, lines in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        (folder / name).write_text("".join((x if isinstance(x, str) else json.dumps(x)) + "\n" for x in lines))
    (folder / "qrels.tsv").write_text("\n".join(qrels) + "\n")
    return folder


def complaints(folder: Path) -> list[str]:
    with pytest.raises(InvalidDataset) as caught:
        dataset.load(folder)
    return [line.removeprefix(f"{folder.name}/") for line in caught.value.lines]


def test_questions_come_with_their_gold_and_what_else_is_asked_with_them(tmp_path: Path) -> None:
    found = dataset.load(written(tmp_path))
    assert (found.documents, found.without_gold) == (2, 0)
    assert [(each.query_id, each.gold, each.fields) for each in found.questions] == [
        ("q1", {"relay#Relay > Ports": 2}, {}),
        ("q2", {"plans": 1}, {"language": "en"}),
    ]


def test_turns_of_a_user_before_a_question_become_its_history(tmp_path: Path) -> None:
    turns = ["Which plans?", "Which port?"]
    given = [{"role": "assistant", "text": "Two."}]
    lines = [
        {"id": "q1", "text": "Which port?", "user_turns": turns},
        {"id": "q2", "text": "Which port?", "user_turns": turns, "history": given},
        {"id": "q3", "text": "Which port?", "user_turns": ["Which port?"]},
        {"id": "q4", "text": "Which port?", "user_turns": ["Which plans?"]},
    ]
    qrels = [QRELS[0], *(f"{line['id']}\tplans\t1" for line in lines)]
    assert [each.fields for each in dataset.load(written(tmp_path, queries=list(lines), qrels=qrels)).questions] == [
        {"history": [{"role": "user", "text": "Which plans?"}]},
        {"history": given},
        {},
        {},
    ]


def test_questions_without_gold_are_left_out_and_counted(tmp_path: Path) -> None:
    more = [*QUERIES, {"id": "q3", "text": "Why?"}, {"id": "q4", "text": "How?"}]
    found = dataset.load(written(tmp_path, queries=more, qrels=[*QRELS, "q4\tplans\t0"]))
    assert ([each.query_id for each in found.questions], found.without_gold) == (["q1", "q2"], 2)


def test_the_name_of_a_set_is_fit_for_a_tenant(tmp_path: Path) -> None:
    folder = tmp_path / "My Set (2)"
    folder.mkdir()
    assert dataset.load(written(folder)).name == "my-set-2"


def test_ids_that_lead_nowhere_are_named_with_their_line(tmp_path: Path) -> None:
    bad = ["q9\tplans\t1", "q1\tgone\t1", "q1\tgone#Ports\t1", "q1\trelay#Relay > Prices\t1"]
    assert complaints(written(tmp_path, qrels=[*QRELS, *bad])) == [
        "qrels.tsv line 4: query 'q9' is not in queries.jsonl",
        "qrels.tsv line 5: document 'gone' is not in corpus.jsonl",
        "qrels.tsv line 6: document 'gone#Ports' is not in corpus.jsonl",
        "qrels.tsv line 7: document 'relay' has no section 'Relay > Prices'",
    ]


def test_bad_lines_of_labels_are_named(tmp_path: Path) -> None:
    bad = ["q1\tplans", "q1\tplans\t-1", "q2\tplans\t1", "q1\trelay\t1"]
    assert complaints(written(tmp_path, qrels=[*QRELS, *bad])) == [
        "qrels.tsv line 4: 2 columns; there must be three with tabs between: query-id, doc-id, grade",
        "qrels.tsv line 5: grade: '-1' is not a whole number from 0",
        "qrels.tsv line 6: 'plans' for query 'q2' is on line 3 already",
        "qrels.tsv line 2: query 'q1' names 'relay' and a section of it; keep one of them",
    ]


def test_labels_without_a_header_line_are_refused(tmp_path: Path) -> None:
    assert complaints(written(tmp_path, qrels=QRELS[1:])) == [
        "qrels.tsv line 1: must be the header line: query-id, doc-id, grade"
    ]


def test_bad_lines_of_documents_and_questions_are_named(tmp_path: Path) -> None:
    corpus = [*CORPUS, {"id": "plans", "text": "again"}, {"id": "x"}]
    queries = [*QUERIES, {"id": "q1", "text": "again"}, {"id": "q3", "text": " "}, "[1]", "{"]
    lines = complaints(written(tmp_path, corpus=corpus, queries=queries))
    assert lines[:5] == [
        "corpus.jsonl line 3: id: 'plans' is on line 2 already",
        "corpus.jsonl line 4: text: missing",
        "queries.jsonl line 3: id: 'q1' is there already",
        "queries.jsonl line 4: text: must be a text that is not empty",
        "queries.jsonl line 5: not a JSON object",
    ]
    assert lines[5].startswith("queries.jsonl line 6: not JSON")


def test_ten_problems_are_listed_and_the_others_counted(tmp_path: Path) -> None:
    bad = [f"q1\tgone{number}\t1" for number in range(12)]
    lines = complaints(written(tmp_path, qrels=[*QRELS, *bad]))
    assert len(lines) == 11
    assert lines[-1] == "… and 2 more"


def test_missing_and_empty_files_are_named(tmp_path: Path) -> None:
    assert complaints(tmp_path) == [
        f"{name}: there is no such file" for name in ("corpus.jsonl", "queries.jsonl", "qrels.tsv")
    ]
    assert complaints(written(tmp_path, corpus=[]))[0] == "corpus.jsonl: nothing in it"
    assert complaints(written(tmp_path, qrels=[QRELS[0], "q1\tplans\t0"])) == ["qrels.tsv: no question has gold"]
