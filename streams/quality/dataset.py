"""A labelled set: documents, questions, and which documents, or sections of them, answer each question.

A folder with corpus.jsonl {"id", "title", "text"}, queries.jsonl {"id", "text" and, if any, "language" and "history"
(turns {"role", "text"}) or "user_turns" (texts of the user, the question last)} and qrels.tsv (query-id, doc-id, grade,
after a header line; a grade of 0 says that the document is no answer).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from schemas.documents import DocumentChange
from streams.errors import Invalid
from streams.quality import sections
from streams.sources import jsonl
from streams.sources.problem import Problem

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels.tsv"
SHOWN = 10  # problems in full; the rest are counted
ASKED = ("history", "language")  # fields of a line that go into its question


class InvalidDataset(Invalid):
    """A labelled set cannot be used; `lines` says why, one problem a line."""

    def __init__(self, folder: Path, problems: Sequence[str]) -> None:
        more = [f"… and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
        self.lines = tuple(f"{folder.name}/{problem}" for problem in problems[:SHOWN]) + tuple(more)
        super().__init__("; ".join(self.lines))


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question with its gold: grades by `doc-id`, or by `doc-id#Heading > Sub heading` for a section."""

    query_id: str
    text: str
    gold: Mapping[str, int]
    fields: Mapping[str, Any]  # further keywords of a client's `ask`


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A labelled set that was found to be sound."""

    name: str
    corpus: Path
    documents: int
    questions: tuple[Question, ...]  # those with gold, in the order of the file
    without_gold: int  # questions left out, as nothing answers them


@dataclass(frozen=True, kw_only=True)
class _Label:
    line: int
    query_id: str
    gold_id: str
    grade: int


def load(folder: Path) -> Dataset:
    """Read and check a labelled set; raise InvalidDataset with all that is wrong with it."""
    problems: list[str] = []
    if missing := [name for name in (CORPUS, QUERIES, QRELS) if not (folder / name).is_file()]:
        raise InvalidDataset(folder, [f"{name}: there is no such file" for name in missing])
    documents: set[str] = set()
    for change in _documents(folder / CORPUS, problems.append):
        documents.add(change.doc_id)
    queries = _queries(folder / QUERIES, problems.append)
    labels = list(_labels(folder / QRELS, problems.append))
    for name, count in ((CORPUS, len(documents)), (QUERIES, len(queries)), (QRELS, len(labels))):
        if not count and not problems:
            problems.append(f"{name}: nothing in it")
    _check(labels, documents, queries, problems.append)
    _check_sections(folder / CORPUS, labels, documents, problems.append)
    if problems:
        raise InvalidDataset(folder, problems)
    gold: dict[str, dict[str, int]] = {}
    for label in labels:
        gold.setdefault(label.query_id, {})[label.gold_id] = label.grade
    questions = tuple(
        Question(
            query_id=query_id,
            text=line["text"],
            gold=gold[query_id],
            fields=_fields(line),
        )
        for query_id, line in queries.items()
        if any(gold.get(query_id, {}).values())
    )
    if not questions:
        raise InvalidDataset(folder, [f"{QRELS}: no question has gold"])
    name = re.sub(r"[^a-z0-9._-]+", "-", folder.resolve().name.lower()).strip("-") or "set"
    return Dataset(
        name=name,
        corpus=folder / CORPUS,
        documents=len(documents),
        questions=questions,
        without_gold=len(queries) - len(questions),
    )


Report = Callable[[str], None]


def _documents(path: Path, report: Report) -> Iterator[DocumentChange]:
    for found in jsonl.read(path, tenant="set", source="set"):
        if isinstance(found, Problem):
            report(f"{path.name} {str(found).removesuffix('; skipped')}")
        else:
            yield found


def _queries(path: Path, report: Report) -> dict[str, dict[str, Any]]:
    queries: dict[str, dict[str, Any]] = {}
    for number, line in _lines(path):
        where = f"{path.name} line {number}"
        try:
            data = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            report(f"{where}: not JSON: {error}")
            continue
        if not isinstance(data, dict):
            report(f"{where}: not a JSON object")
        elif bad := [name for name in ("id", "text") if not isinstance(data.get(name), str) or not data[name].strip()]:
            report(f"{where}: {bad[0]}: must be a text that is not empty")
        elif data["id"] in queries:
            report(f"{where}: id: {data['id']!r} is there already")
        else:
            queries[data["id"]] = data
    return queries


def _fields(line: Mapping[str, Any]) -> dict[str, Any]:
    """Return what else of a line goes into its question; of a conversation as users' turns those before it."""
    fields = {name: line[name] for name in ASKED if line.get(name) is not None}
    turns = line.get("user_turns")
    if "history" not in fields and isinstance(turns, list) and turns[-1:] == [line["text"]] and len(turns) > 1:
        fields["history"] = [{"role": "user", "text": turn} for turn in turns[:-1]]
    return fields


def _labels(path: Path, report: Report) -> Iterator[_Label]:
    seen: dict[tuple[str, str], int] = {}
    for number, line in _lines(path):
        where = f"{path.name} line {number}"
        cells = [cell.strip() for cell in line.decode("utf-8", "replace").split("\t")]
        if len(cells) != 3:
            report(f"{where}: {len(cells)} columns; there must be three with tabs between: query-id, doc-id, grade")
        elif number == 1:
            if cells[2].isdigit():
                report(f"{where}: must be the header line: query-id, doc-id, grade")
        elif not re.fullmatch(r"[0-9]{1,6}", cells[2]):
            report(f"{where}: grade: {cells[2]!r} is not a whole number from 0")
        elif (first := seen.setdefault((cells[0], cells[1]), number)) != number:
            report(f"{where}: {cells[1]!r} for query {cells[0]!r} is on line {first} already")
        else:
            yield _Label(line=number, query_id=cells[0], gold_id=cells[1], grade=int(cells[2]))


def _check(labels: Sequence[_Label], documents: set[str], queries: Mapping[str, object], report: Report) -> None:
    """Report ids that lead nowhere, and gold that is both a document and a section of it."""
    whole = {(label.query_id, label.gold_id) for label in labels if label.gold_id in documents}
    for label in labels:
        where = f"{QRELS} line {label.line}"
        if label.query_id not in queries:
            report(f"{where}: query {label.query_id!r} is not in {QUERIES}")
        split = sections.split(label.gold_id, documents)
        if split is None:
            report(f"{where}: document {label.gold_id!r} is not in {CORPUS}")
        elif split[1] and (label.query_id, split[0]) in whole:
            report(f"{where}: query {label.query_id!r} names {split[0]!r} and a section of it; keep one of them")


def _check_sections(corpus: Path, labels: Sequence[_Label], documents: set[str], report: Report) -> None:
    """Report sections that their document does not have, as the chunker sees it."""
    wanted: dict[str, list[_Label]] = {}
    for label in labels:
        split = sections.split(label.gold_id, documents)
        if split is not None and split[1]:
            wanted.setdefault(split[0], []).append(label)
    if not wanted:
        return
    for change in _documents(corpus, lambda problem: None):
        paths = sections.paths(change) if change.doc_id in wanted else ()
        for label in wanted.get(change.doc_id, ()):
            section = label.gold_id[len(change.doc_id) + 1 :]
            if not any(sections.within(path, section) for path in paths):
                report(f"{QRELS} line {label.line}: document {change.doc_id!r} has no section {section!r}")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, line.rstrip(b"\r\n")
