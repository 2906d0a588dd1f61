"""Documents to chunks: one for the document, one for each section (parent), and pieces of long ones (children).

A section that fits the embedder has no children: it is embedded itself and is its own evidence. A Q&A pair has, beside
its parent, a chunk of its question alone: the answer must not blur what it is near to. Limits hold for the whole text
of a chunk, heading path included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from schemas.chunks import Chunk, Level, chunk_text
from schemas.documents import ContentType, DocumentChange, Kind
from streams.domain import language, sections
from streams.domain.blocks import Block, fitted, joined, packed
from streams.domain.cuts import by_sentences
from streams.domain.html import to_markdown
from streams.domain.identity import chunk_id, chunk_level
from streams.domain.markup import FrontMatter, split_front_matter
from streams.domain.normalise import normalise_text

# How texts are cut and marked for the indexes; raised when an index made before no longer fits.
CHUNKER = "2"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Sizes of chunks, in characters."""

    parent_max: int = 3_500
    parent_target: int = 3_000  # of the parts of a section that is longer than `parent_max`
    repeat_max: int = 200  # a last paragraph up to this long is repeated at the start of the next part
    # The smallest embedder reads 256 word pieces: of technical pages, 9 in 100 chunks of this size have more.
    # A pair's question, alone, is cut here too.
    child_max: int = 900
    child_target: int = 650
    document_max: int = 900
    document_lead: int = 500  # of the text at the start of the document
    heading_max: int = 200  # a longer heading is cut in the path, and stands in full before its text
    path_max: int = 400


@dataclass(frozen=True, kw_only=True)
class DocumentText:
    """What of a version is cut into chunks, and what their ids are made of."""

    tenant: str
    source: str
    doc_id: str
    generation: str
    kind: Kind = "document"
    title: str  # of a Q&A pair: the question
    content: str  # of a Q&A pair: the answer
    content_type: ContentType = "text/markdown"
    language: str = language.DEFAULT  # ISO 639 code


def text_of(change: DocumentChange, generation: str) -> DocumentText:
    """Return what of a change is cut into chunks."""
    is_qa = change.kind == "qa"
    return DocumentText(
        tenant=change.tenant,
        source=change.source,
        doc_id=change.doc_id,
        generation=generation,
        kind=change.kind,
        title=change.question or change.title if is_qa else change.title,
        content=change.answer or change.content if is_qa else change.content,
        content_type=change.content_type,
        language=language.detect(f"{change.title}\n{change.content}", change.language),
    )


def cut(document: DocumentText, *, limits: Limits | None = None) -> tuple[Chunk, ...]:
    """Return a document's chunks in reading order: the document-level one, then each parent and its children.

    A document without text has none. A Q&A pair is one parent, headed by its question, and the question alone; an
    answer beyond the limit is cut into several parents. The same text gives the same ids, and an edit changes those of
    the chunks it touches.
    """
    limits = limits or Limits()
    numbered = _Numbered(document)
    title = " ".join(normalise_text(document.title).split())
    content = normalise_text(document.content)
    if document.content_type == "text/html":
        content = to_markdown(content)
    if document.kind == "qa":
        return tuple(_qa(numbered, title, content, limits))
    front = FrontMatter()
    if document.content_type == "text/plain":
        found = sections.of_plain_text(content)
    else:
        front, content = split_front_matter(content)
        found = sections.of_markdown(content)
    title = title or front.title
    chunks = [chunk for section in found for chunk in _section(numbered, title, section, limits)]
    if not chunks:
        return ()
    headings = [section.headings[-1] for section in found if section.headings]
    document_chunk = _document(
        numbered, title=title, description=front.description, headings=headings, first=chunks[0], limits=limits
    )
    return (document_chunk, *chunks)


def path_of(title: str, headings: tuple[str, ...]) -> tuple[str, ...]:
    """Return the heading path: the title, unless it is the first heading's text, then the headings."""
    if not title or (headings and headings[0].casefold() == title.casefold()):
        return headings
    return (title, *headings)


class _Numbered:
    """Makes a document's chunks; counts how often each text came under one path, to tell their ids apart."""

    def __init__(self, document: DocumentText) -> None:
        self._document = document
        self._seen: Counter[tuple[str, tuple[str, ...], str]] = Counter()

    def chunk(self, level: Level, path: tuple[str, ...], body: str, parent_id: str | None = None) -> Chunk:
        key = (level, path, body)
        identity = chunk_id(
            generation=self._document.generation,
            level=chunk_level(level, self._document.kind, self._document.language),
            tenant=self._document.tenant,
            source=self._document.source,
            doc_id=self._document.doc_id,
            heading_path=path,
            body=body,
            occurrence=self._seen[key],
        )
        self._seen[key] += 1
        return Chunk(id=identity, level=level, heading_path=path, body=body, parent_id=parent_id or identity)


def _section(numbered: _Numbered, title: str, section: sections.Section, limits: Limits) -> Iterator[Chunk]:
    path = _shortened(path_of(title, section.headings), limits)
    blocks = section.blocks
    if section.headings and path[-1] != section.headings[-1]:
        blocks = (Block(kind="text", text=section.headings[-1]), *blocks)
    for part, repeated in _parts(path, blocks, limits):
        parent = numbered.chunk("parent", path, joined([*repeated, *part]))
        yield parent
        if len(parent.text) <= limits.child_max:
            continue
        room = _room(path, limits.child_max)
        target = min(limits.child_target, room)
        pieces = list(fitted([replace(part[0], continues=False), *part[1:]], target=target, limit=room))
        for group in packed(pieces, target=target, limit=room):
            yield numbered.chunk("child", path, joined(group), parent.id)


def _parts(
    path: tuple[str, ...], blocks: tuple[Block, ...], limits: Limits
) -> Iterator[tuple[list[Block], list[Block]]]:
    """Yield the blocks of each part of a section, with the short paragraph that is repeated in front of it."""
    room = _room(path, limits.parent_max)
    if len(joined(blocks)) <= room:
        if blocks:
            yield list(blocks), []
        return
    target = min(limits.parent_target, room)
    repeated: list[Block] = []
    for part in packed(list(fitted(blocks, target=target, limit=room)), target=target, limit=room):
        fits = len(joined([*repeated, *part])) <= room
        yield part, repeated if fits else []
        last = part[-1]
        repeated = [last] if last.kind == "text" and len(last.text) <= limits.repeat_max and len(part) > 1 else []


def _qa(numbered: _Numbered, question: str, answer: str, limits: Limits) -> Iterator[Chunk]:
    path = _shortened((question,) if question else (), replace(limits, heading_max=limits.path_max))
    blocks = sections.of_plain_text(answer)[0].blocks
    if question and path[0] != question:
        blocks = (Block(kind="text", text=question), *blocks)
    for number, (part, repeated) in enumerate(_parts(path, blocks, limits)):
        parent = numbered.chunk("parent", path, joined([*repeated, *part]))
        yield parent
        if number == 0 and question:
            alone = by_sentences(question, target=limits.child_max, limit=limits.child_max)[0]
            yield numbered.chunk("question", (), alone, parent.id)


def _document(
    numbered: _Numbered, *, title: str, description: str, headings: list[str], first: Chunk, limits: Limits
) -> Chunk:
    """Make the document-level chunk: title, description, lead text, and as many headings as there is room for."""
    path = _shortened((title,), limits) if title else first.heading_path[:1]
    room = _room(path, limits.document_max)
    lead = by_sentences(first.body, target=limits.document_lead, limit=limits.document_lead)[0]
    body = f"{description[: limits.document_lead]}\n\n{lead}" if description else lead
    if path and path[0] != title:
        title = path[0]
    separator = "\n\n"
    for heading in dict.fromkeys(headings):
        if heading.casefold() == title.casefold():
            continue
        line = f"{separator}- {_clipped(heading, limits.heading_max)}"
        if len(body) + len(line) > room:
            break
        body += line
        separator = "\n"
    return numbered.chunk("document", path, body[:room].rstrip(), first.id)


def _shortened(path: tuple[str, ...], limits: Limits) -> tuple[str, ...]:
    longest = limits.heading_max
    if sum(min(len(heading), longest) for heading in path) > limits.path_max:
        longest = limits.path_max // len(path)
    return tuple(_clipped(heading, longest) for heading in path)


def _clipped(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    cut_at = text.rfind(" ", longest // 2, longest)
    return text[: cut_at if cut_at > 0 else longest - 1].rstrip() + "…"


def _room(path: tuple[str, ...], most: int) -> int:
    """Return how long a body under this path may be."""
    return most - len(chunk_text(path, ""))
