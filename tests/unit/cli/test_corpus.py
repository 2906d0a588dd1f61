"""What `up` puts in and asks, and how sources are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.documents import DocumentChange
from streams.cli import connect, corpus
from streams.cli.mirroring import Source
from streams.errors import Invalid


def test_the_demonstration_corpus_reads_without_a_problem() -> None:
    found = [entry for source in corpus.demo("demo").sources for entry in source.read()]
    assert all(isinstance(entry, DocumentChange) for entry in found)
    kinds = [entry.kind for entry in found if isinstance(entry, DocumentChange)]
    assert kinds.count("qa") >= 30
    assert kinds.count("document") >= 40


def test_a_folder_is_asked_about_its_first_middle_and_last_title(tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d", "e"):
        (tmp_path / f"{name}.md").write_text(f"# Guide {name.upper()}\n")
    asked = corpus.of(tmp_path, "t").questions()
    assert asked == ("What does Guide A say?", "What does Guide C say?", "What does Guide E say?")


def test_a_file_of_pairs_is_asked_its_own_questions_and_an_empty_folder_none(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text('{"id": "1", "question": "Why?", "answer": "So."}\n')
    assert corpus.of(pairs, "t").questions() == ("Why?",)
    (tmp_path / "empty").mkdir()
    assert corpus.of(tmp_path / "empty", "t").questions() == ()


@pytest.mark.parametrize(
    ("path", "name"), [("Help Centre (new)", "help-centre-new"), ("faq.v2.jsonl", "faq.v2"), ("ÄÖ", "default")]
)
def test_a_source_is_named_after_its_path(tmp_path: Path, path: str, name: str) -> None:
    (tmp_path / path).touch() if path.endswith("jsonl") else (tmp_path / path).mkdir()
    assert Source.of(tmp_path / path, tenant="t").name == name


def test_other_files_and_bad_names_are_refused(tmp_path: Path) -> None:
    (tmp_path / "page.md").touch()
    with pytest.raises(Invalid, match="give a folder"):
        Source.of(tmp_path / "page.md", tenant="t")
    with pytest.raises(Invalid, match="tenant: may have only"):
        Source.of(tmp_path, tenant="No")
    with pytest.raises(Invalid, match="source: may have only"):
        Source.of(tmp_path, tenant="t", name="A B")


def test_a_document_is_named_by_its_source_and_all_that_follows_the_first_slash() -> None:
    key = connect.document("help/billing/refunds.md", "acme")
    assert (key.tenant, key.source, key.doc_id) == ("acme", "help", "billing/refunds.md")
    for bad in ("help", "help/", "/x", "He/x"):
        with pytest.raises(Invalid):
            connect.document(bad, "acme")
