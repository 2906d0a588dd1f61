"""Cases of cutting as data: documents in tests/cases/chunking-*.yaml, and what must hold of their chunks."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from schemas.chunks import Chunk
from streams.domain.chunking import DocumentText, Limits, cut

CASES = sorted((Path(__file__).parents[2] / "cases").glob("chunking-*.yaml"))
LIMITS = Limits()


def chunks_of(doc_id: str, fields: dict[str, Any]) -> tuple[Chunk, ...]:
    content = fields.get("content", "")
    if repeat := fields.get("repeat"):
        repeated = "".join(
            repeat["text"].replace("{i}", str(i)).replace("{i:03d}", f"{i:03d}") for i in range(repeat["times"])
        )
        content = f"{fields['before']}{repeated}{fields['after']}"
    document = DocumentText(
        tenant="acme",
        source="docs",
        doc_id=doc_id,
        generation="g1",
        title=fields["title"],
        content=content,
        content_type=fields.get("content_type", "text/markdown"),
    )
    return cut(document)


def check(expected: dict[str, Any], chunks: tuple[Chunk, ...], others: dict[str, tuple[Chunk, ...]]) -> None:
    sections = [chunk for chunk in chunks if chunk.level != "document"]
    for text, path in expected.get("paths", {}).items():
        assert {chunk.heading_path for chunk in sections if text in chunk.body} == {tuple(path)}
    if "every_path" in expected:
        parents = [chunk.heading_path for chunk in chunks if chunk.level == "parent"]
        assert parents == [tuple(path) for path in expected["every_path"]]
    for word in expected.get("never_in_paths", ()):
        assert not any(word in heading for chunk in chunks for heading in chunk.heading_path)
    for texts in expected.get("together", ()):
        assert any(all(text in chunk.body for text in texts) for chunk in sections)
    for text, also in expected.get("wherever", {}).items():
        having = [chunk for chunk in sections if text in chunk.body]
        assert having
        assert all(word in chunk.body for chunk in having for word in also)
    for text in expected.get("kept", ()):
        assert any(text in chunk.body for chunk in sections)
    for text in expected.get("absent", ()):
        assert not any(text in chunk.text for chunk in chunks)
    assert len(chunks) <= expected.get("at_most", len(chunks))
    assert len(chunks) >= expected.get("at_least", 0)
    if other := expected.get("same_as"):
        assert [chunk.text for chunk in chunks] == [chunk.text for chunk in others[other]]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_case_of_cutting_holds(path: Path) -> None:
    case = yaml.safe_load(path.read_text(encoding="utf-8"))
    cut_documents = {doc_id: chunks_of(doc_id, fields) for doc_id, fields in case["documents"].items()}
    longest = {"document": LIMITS.document_max, "parent": LIMITS.parent_max, "child": LIMITS.child_max}
    for doc_id, chunks in cut_documents.items():
        assert len({chunk.id for chunk in chunks}) == len(chunks)
        assert all(len(chunk.text) <= longest[chunk.level] for chunk in chunks)
        check(case["expect"][doc_id], chunks, cut_documents)


def test_there_are_cases() -> None:
    assert len(CASES) >= 12
