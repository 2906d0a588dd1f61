"""The acceptance cases, through the running pipeline."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import case_files
from tests.e2e.case_feeding import Feeder, feeding
from tests.e2e.case_statements import failures
from tests.pipeline import Pipeline

# What is not there yet, and the entries of cases that need it. Such a case must fail in these entries and in no other;
# it turns red when the capability arrives, and its line goes.
MISSING: dict[str, tuple[str, frozenset[str]]] = {
    "hash-lines-in-code-are-not-headings": (
        "a reranker: both pages speak of a lock, and only one of what restoring does",
        frozenset({"first_doc"}),
    ),
    "near-twin-questions-share-no-answer": (
        "a reranker: to the embedder the two pages are closer than their one different word is rare",
        frozenset({"first_doc"}),
    ),
}


class Missing(AssertionError):
    """Nothing but what is not there yet is wrong with a case."""


@pytest.fixture(scope="module")
async def feeder(pipeline: Pipeline) -> AsyncIterator[Feeder]:
    async with feeding(pipeline) as opened:
        yield opened


def cases() -> list[object]:
    """Return the cases as parameters, those that need something missing as expected failures."""
    marks = {
        name: [pytest.mark.xfail(strict=True, raises=Missing, reason=f"needs {reason}")]
        for name, (reason, _) in MISSING.items()
    }
    return [pytest.param(path, id=path.stem, marks=marks.get(path.stem, [])) for path in case_files.PATHS]


@pytest.mark.parametrize("path", cases())
async def test_a_case_from_the_field_holds(feeder: Feeder, path: Path) -> None:
    found = failures(await feeder.run(case_files.read(path)))
    if not found:
        return
    _, entries = MISSING.get(path.stem, ("", frozenset()))
    expected = {failure.entry for failure in found} <= entries
    raise (Missing if expected else AssertionError)("\n".join(["", *map(str, found)]))


WRONG: list[dict[str, Any]] = [
    {"query": 0, "first_doc": "lamps"},
    {"query": 0, "passage_contains": "72 ampere"},
    {"query": 0, "never_doc": "fuses"},
    {"query": 0, "no_result": True},
    {"query": 0, "error_reply": "validation"},
    {"query": 0, "passages_chars_at_most": 10},
    {"query": 1, "same_docs_as": 0},
    {"query": 1, "reply_not_error": True},
    {"doc": "fuses", "text": "63 ampere", "heading_path": ["Fuses", "Lamps"]},
    {"doc": "fuses", "text_gone": ["63 ampere"]},
    {"doc": "fuses", "live_version": 1},
    {"doc": "fuses", "status": "deleted"},
    {"doc": "fuses", "chunk_count_reported": 0},
    {"doc": "lamps", "dead_letter": "validation"},
    {"doc": "lamps", "same_chunks_as": "fuses"},
    {"no_dead_letter": True},
    {"query": 0, "is_pretty": True},
]


async def test_wrong_expectations_of_a_real_run_are_reported(feeder: Feeder) -> None:
    case = case_files.Case(
        name="wrong",
        kind="robustness",
        source="",
        why="",
        documents=(
            case_files.Event(doc_id="fuses", title="Fuses", content="# Fuses\n\nThe fuse has 62 ampere."),
            case_files.Event(doc_id="fuses", title="Fuses", version=2, content="# Fuses\n\nThe fuse has 63 ampere."),
            case_files.Event(doc_id="lamps", title="Lamps", content="# Lamps\n\nReplace lamps in pairs."),
            case_files.Event(doc_id="nobody", tenant="", content="Nobody's."),
        ),
        queries=(case_files.Question(text="rating of the fuse"), case_files.Question(text="")),
        expect=(
            *WRONG,
            {"query": 0, "first_doc": "fuses", "passage_contains": "63 ampere"},
            {"query": 1, "error_reply": "validation"},
            {"doc": "fuses", "text_gone": ["62 ampere"], "status": "searchable", "version": 2},
            {"doc": "nobody", "dead_letter": "validation"},
        ),
    )
    found = failures(await feeder.run(case))
    assert [failure.number for failure in found] == list(range(1, len(WRONG) + 1)), "\n".join(map(str, found))


def test_there_are_cases_and_each_is_in_the_file_of_its_name() -> None:
    assert len(case_files.PATHS) >= 41
    assert [case_files.read(path).name for path in case_files.PATHS] == [path.stem for path in case_files.PATHS]
    assert set(MISSING) <= {path.stem for path in case_files.PATHS}
