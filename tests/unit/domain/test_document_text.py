"""A document put together from its passages, and parts of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.document_text import DocumentText, assembled, window
from streams.domain.live_document import LiveDocument, LivePart
from streams.errors import Invalid


def written(*parts: LivePart) -> DocumentText:
    return assembled(
        LiveDocument(
            source="help",
            doc_id="a/b.md",
            version=3,
            kind="document",
            title="Anchors",
            uri="",
            trust="internal",
            language="en",
            tags=(),
            updated_at=None,
            parts=parts,
        )
    )


def part_of(number: int, body: str, *headings: str) -> LivePart:
    return LivePart(passage_id=f"p{number}", heading_path=headings, body=body)


def test_headings_are_written_where_a_section_begins_and_each_passage_knows_its_line() -> None:
    document = written(
        part_of(1, "Intro.", "Anchors"),
        part_of(2, "One.\nTwo.", "Anchors", "Chains"),
        part_of(3, "More.", "Anchors", "Chains"),
        part_of(4, "Deep.", "Anchors", "Ropes", "Hemp"),
        part_of(5, "Other.", "Appendix"),
    )
    assert document.text == (
        "# Anchors\n\nIntro.\n\n## Chains\n\nOne.\nTwo.\n\nMore.\n\n"
        "## Ropes\n\n### Hemp\n\nDeep.\n\n# Appendix\n\nOther.\n"
    )
    lines = document.text.splitlines()
    assert {name: lines[line - 1] for name, line in document.starts.items()} == {
        "p1": "# Anchors",
        "p2": "## Chains",
        "p3": "More.",
        "p4": "## Ropes",
        "p5": "# Appendix",
    }


def test_a_text_without_headings_is_its_passages() -> None:
    assert written(part_of(1, "A."), part_of(2, "B.")).text == "A.\n\nB.\n"


TEXT = "one\ntwo\n\nfour\n"


@pytest.mark.parametrize(
    ("asked", "text", "lines", "rest"),
    [
        ({}, TEXT, (1, 4), {}),
        ({"from_line": 2, "to_line": 2}, "two\n", (2, 2), {"from_line": 3}),
        ({"from_line": 4}, "four\n", (4, 4), {}),
        ({"to_line": 99}, TEXT, (1, 4), {}),
        ({"from_char": 1, "to_char": 6}, "ne\ntw", (1, 2), {"from_char": 6}),
        ({"from_char": 9}, "four\n", (4, 4), {}),
        ({"limit": 6}, "one\n", (1, 1), {"from_line": 2}),
        ({"limit": 2}, "on", (1, 1), {"from_char": 2}),
        ({"from_line": 0}, TEXT, (1, 4), {}),
    ],
)
def test_lines_and_characters_are_cut_out(
    asked: dict[str, int], text: str, lines: tuple[int, int], rest: dict[str, int]
) -> None:
    part = window(TEXT, **{"limit": 1000, **asked})  # type: ignore[arg-type]
    assert (part.text, (part.first_line, part.last_line), part.rest) == (text, lines, rest)
    assert TEXT[part.first : part.end] == part.text
    assert (part.lines, part.characters) == (4, len(TEXT))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"from_line": 5}, "from_line: is 5, and the document has 4 lines"),
        ({"from_line": 3, "to_line": 2}, "to_line: ends before it begins"),
        ({"from_char": 14}, "from_char: is 14, and the document has 14 characters"),
        ({"from_char": 3, "to_char": 3}, "to_char: ends before it begins"),
        ({"from_line": 1, "to_char": 3}, "to_char: give a range of lines or a range of characters, not both"),
    ],
)
def test_a_range_that_is_not_there_is_refused_by_name(asked: dict[str, int], said: str) -> None:
    with pytest.raises(Invalid, match=f"^{said}"):
        window(TEXT, limit=10, **asked)


@given(st.text("ab\n", min_size=1, max_size=200), st.integers(1, 50))
def test_reading_on_gives_every_character_once(text: str, limit: int) -> None:
    whole, asked = "", {}
    for _ in range(len(text)):
        part = window(text, limit=limit, **asked)
        assert 0 < len(part.text) <= limit
        whole += part.text
        if not (asked := part.rest):
            break
    assert whole == text


def test_a_document_without_text_can_be_read_and_is_empty() -> None:
    part = window(written().text, limit=10)
    assert (part.text.strip(), part.lines, part.rest) == ("", 1, {})
