"""Statements about a document in the index, as it is after all events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from schemas.chunks import Chunk
from streams.domain.chunking import Limits
from tests.e2e.case_outcomes import Outcome, Stored, has, normal
from tests.e2e.case_registry import Statement, into, only, shown, unless

Given = Mapping[str, Any]

DOCUMENT_STATEMENTS: dict[str, Statement[Stored]] = {}
_document = into(DOCUMENT_STATEMENTS)


@_document
def heading_path(stored: Stored, path: Sequence[str], given: Given, _: Outcome) -> str | None:
    """Some chunk that has `text` carries exactly this path; or, with `chunks_having`, every chunk that has that."""
    every = "chunks_having" in given
    text = given["chunks_having"] if every else given.get("text", "")
    having = _having(stored, text)
    fits = [_under(chunk, path, text, stored.title) for chunk in having]
    holds = all(fits) if every else any(fits)
    return unless(bool(having) and holds, f"{text!r} is under {[list(chunk.heading_path) for chunk in having]}")


@_document
def heading_path_never_contains(stored: Stored, heading: str, given: Given, _: Outcome) -> str | None:
    """No chunk with `text` has the heading in its path; some chunk has the text."""
    paths = [chunk.heading_path for chunk in _having(stored, given.get("text", ""))]
    clear = not any(has(part, heading) for path in paths for part in path)
    return unless(bool(paths) and clear, f"the text is under {paths}")


@_document
def heading_paths_never_contain(stored: Stored, headings: Sequence[str], _: Given, __: Outcome) -> str | None:
    """No path of the document has any of these."""
    paths = {chunk.heading_path for chunk in stored.chunks}
    wrong = [path for path in paths if any(has(part, heading) for part in path for heading in headings)]
    return unless(not wrong, f"{wrong}")


@_document
def sections_kept(stored: Stored, paths: Sequence[Sequence[str]], _: Given, __: Outcome) -> str | None:
    """Each of these paths has a chunk."""
    missing = [path for path in paths if not any(_under(c, path, "", stored.title) for c in stored.chunks)]
    return unless(not missing, f"no chunk under {missing}")


@_document
def chunk_contains_all(stored: Stored, texts: Sequence[str], _: Given, __: Outcome) -> str | None:
    """One chunk has all these texts."""
    found = any(all(has(chunk.text, text) for text in texts) for chunk in stored.chunks)
    return unless(found, f"no chunk has all of {texts}: {_texts(stored)}")


@_document
def chunk_contains_verbatim(stored: Stored, text: str, _: Given, __: Outcome) -> str | None:
    """One chunk has this text, white space included."""
    return unless(any(text in chunk.text for chunk in stored.chunks), f"{text!r} is in none of {_texts(stored)}")


@_document
def chunks_having(stored: Stored, text: str, given: Given, _: Outcome) -> str | None:
    """Every chunk that has the text has also `also_contain`; some chunk has it."""
    having = _having(stored, text)
    poor = [chunk.text for chunk in having if not all(has(chunk.text, also) for also in given.get("also_contain", ()))]
    if not {"also_contain", "heading_path"} & set(given):
        return "needs `also_contain` or `heading_path`"
    return unless(bool(having) and not poor, f"{len(having)} chunks have it, {len(poor)} not the rest: {poor[:1]}")


@_document
def text_kept(stored: Stored, texts: Sequence[str], _: Given, __: Outcome) -> str | None:
    """Each is in some chunk."""
    missing = [text for text in texts if not _having(stored, text)]
    return unless(not missing, f"{missing} not in {_texts(stored)}")


@_document
def text_gone(stored: Stored, texts: Sequence[str], _: Given, __: Outcome) -> str | None:
    """Each is in no chunk of any version, and the vector index has no point that no chunk explains."""
    left = [text for text in texts if any(has(row, text) for row in stored.texts)]
    return unless(not left and not stored.ghosts, f"left: {left}; points without a chunk: {stored.ghosts}")


@_document
def no_chunk_contains(stored: Stored, text: str, _: Given, __: Outcome) -> str | None:
    """No chunk has it, in text, title or path."""
    parts = [*_texts(stored), *(part for chunk in stored.chunks for part in chunk.heading_path)]
    wrong = [part for part in parts if has(part, text)]
    return unless(bool(stored.chunks) and not wrong, f"{text!r} is in {shown(str(wrong))}")


@_document
def chunks_at_least(stored: Stored, least: int, _: Given, __: Outcome) -> str | None:
    """The number of chunks."""
    return unless(len(stored.chunks) >= least, f"{len(stored.chunks)} chunks")


@_document
def chunks_at_most(stored: Stored, most: int, _: Given, __: Outcome) -> str | None:
    """The number of chunks."""
    return unless(len(stored.chunks) <= most, f"{len(stored.chunks)} chunks")


@_document
def chunks_with_body_at_most(stored: Stored, most: int, _: Given, __: Outcome) -> str | None:
    """The number of chunks with any text besides headings and title."""
    names = {normal(part) for chunk in stored.chunks for part in chunk.heading_path} | {normal(stored.title), ""}
    full = [c for c in stored.chunks if any(normal(line.lstrip("#- ")) not in names for line in c.body.splitlines())]
    return unless(len(full) <= most, f"{len(full)} chunks have a body: {_texts(stored)}")


@_document
def no_chunk_over_profile_limit(stored: Stored, expected: Any, _: Given, __: Outcome) -> str | None:
    """No chunk exceeds the limit of its level."""
    limits = Limits()
    longest = {"document": limits.document_max, "parent": limits.parent_max}
    longest |= {"child": limits.child_max, "question": limits.child_max}
    over = [(chunk.level, len(chunk.text)) for chunk in stored.chunks if len(chunk.text) > longest[chunk.level]]
    return only(expected, True) or unless(bool(stored.chunks) and not over, f"over {longest}: {over}")


@_document
def longest_word_at_most(stored: Stored, most: int, _: Given, __: Outcome) -> str | None:
    """No run without white space is longer."""
    longest = max((len(word) for chunk in stored.chunks for word in chunk.text.split()), default=0)
    return unless(longest <= most, f"a word of {longest} characters")


@_document
def chunks_are_valid_utf8(stored: Stored, expected: Any, _: Given, __: Outcome) -> str | None:
    """Every chunk can be written as UTF-8, and holds no character that stands for one that could not be read."""
    broken = [text for text in _texts(stored) if "\ufffd" in text or text.encode("utf-8", "replace").decode() != text]
    return only(expected, True) or unless(bool(stored.chunks) and not broken, f"{broken}")


@_document
def chunks_never_start_or_end_with(stored: Stored, text: str, _: Given, __: Outcome) -> str | None:
    """No chunk starts or ends with it."""
    bodies = [part for chunk in stored.chunks for part in (chunk.text, chunk.body)]
    wrong = [body for body in bodies if body.startswith(text) or body.endswith(text)]
    return unless(bool(stored.chunks) and not wrong, f"{wrong}")


@_document
def chunk_ids_distinct(stored: Stored, expected: Any, _: Given, __: Outcome) -> str | None:
    """No two chunks share an id."""
    ids = [chunk.id for chunk in stored.chunks]
    distinct = bool(ids) and len(set(ids)) == len(ids)
    return only(expected, True) or unless(distinct, f"{len(ids)} chunks, {len(set(ids))} ids")


@_document
def same_chunks_as(stored: Stored, doc: str, _: Given, outcome: Outcome) -> str | None:
    """The same texts and paths as another document's."""
    other = next((each for each in outcome.documents if (each.tenant, each.doc_id) == (stored.tenant, doc)), None)
    theirs = _contents(other) if other else []
    mine = _contents(stored)
    return unless(bool(theirs) and mine == theirs, f"{shown(str(mine))}, not {shown(str(theirs))}")


@_document
def status(stored: Stored, expected: str, given: Given, _: Outcome) -> str | None:
    """The last receipt of the document says so, of exactly `version` where one is given."""
    last = stored.receipts[-1] if stored.receipts else None
    holds = last is not None and last.status == expected and given.get("version", last.version) == last.version
    return unless(holds, f"the last receipt is {last}")


@_document
def chunk_count_reported(stored: Stored, count: int, _: Given, __: Outcome) -> str | None:
    """The last receipt says how many chunks there are."""
    last = stored.receipts[-1] if stored.receipts else None
    return unless(last is not None and last.chunks == count, f"the last receipt is {last}")


@_document
def reason_reported(stored: Stored, expected: Any, _: Given, __: Outcome) -> str | None:
    """The last receipt gives a reason."""
    last = stored.receipts[-1] if stored.receipts else None
    return only(expected, True) or unless(last is not None and bool(last.reason), f"the last receipt is {last}")


@_document
def live_version(stored: Stored, version: int, _: Given, __: Outcome) -> str | None:
    """The version that queries see."""
    return unless(stored.live_version == version, f"version {stored.live_version} is live")


@_document
def dead_letter(stored: Stored, error_class: str, _: Given, __: Outcome) -> str | None:
    """The event is in the dead letters once, under this class."""
    return unless(stored.dead_letters == (error_class,), f"dead letters: {list(stored.dead_letters)}")


def _texts(stored: Stored) -> list[str]:
    return [chunk.text for chunk in stored.chunks]


def _having(stored: Stored, text: str) -> list[Chunk]:
    return [chunk for chunk in stored.chunks if has(chunk.text, text)]


def _contents(stored: Stored) -> list[tuple[tuple[str, ...], str]]:
    return [(chunk.heading_path, chunk.text) for chunk in stored.chunks]


def _under(chunk: Chunk, path: Sequence[str], text: str, title: str) -> bool:
    """Is a chunk under a path, whether the document's title stands in front or not?

    A chunk of several small sections is, if it carries what their paths share and has the other headings, each on a
    line of its own and in their order, before the text.
    """
    wanted, own = _without_title(path, title), _without_title(chunk.heading_path, title)
    if wanted == own or chunk.level == "document":
        return wanted == own
    if wanted[: len(own)] != own:
        return False
    before = chunk.body.partition(text)[0] if text else chunk.body
    lines = iter([normal(line.strip("#* \t")) for line in before.splitlines()])
    return all(heading in lines for heading in wanted[len(own) :])


def _without_title(path: Sequence[str], title: str) -> list[str]:
    parts = [normal(part) for part in path]
    return parts[1:] if parts and title and parts[0].casefold() == normal(title).casefold() else parts
