"""What became of a case: its replies, its documents as they are stored, its receipts and its dead letters."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from schemas.chunks import Chunk
from schemas.documents import DocumentStatus
from schemas.replies import Passage, QueryReply
from streams.domain.profile import Profile
from tests.e2e.case_files import Case


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The reply to one question under one profile."""

    query: int
    profile: Profile
    tenant: str
    reply: QueryReply
    seconds: float  # from the question to its reply, at the client
    allowed: float  # seconds that it had

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The passages, best first."""
        return self.reply.passages

    @property
    def docs(self) -> list[str]:
        """The different documents of the reply, best first."""
        return list(dict.fromkeys(passage.doc_id for passage in self.passages))

    @property
    def text(self) -> str:
        """All passages together, in normal form."""
        return normal("\n".join(passage.text for passage in self.passages))

    def scores(self) -> list[float | None]:
        """The absolute scores; `knowledge-base` without a reranker has none, and orders by its fused value."""
        relative = self.profile.name == "knowledge-base" and self.reply.models.reranker is None
        return [passage.score if relative else passage.absolute for passage in self.passages]


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A document as it is after all events."""

    tenant: str
    doc_id: str
    title: str = ""
    trust: str = "internal"
    live_version: int | None = None
    chunks: tuple[Chunk, ...] = ()  # of the live version
    texts: tuple[str, ...] = ()  # of every chunk row there is, of any version
    ghosts: tuple[str, ...] = ()  # points of the vector index that no chunk row explains
    receipts: tuple[DocumentStatus, ...] = ()  # oldest first
    dead_letters: tuple[str, ...] = ()  # error classes


@dataclass(frozen=True, kw_only=True)
class Work:
    """What one event made the embedder do."""

    embedded: int  # chunks
    changed: int  # chunks of the new version whose text, path or level the version before did not have


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """All of it."""

    case: Case
    answers: tuple[Answer, ...]
    documents: tuple[Stored, ...]
    work: Mapping[int, Work]  # by the number of the event
    dead_letters: tuple[str, ...]  # topic and error class
    ids: Mapping[str, frozenset[str]]  # by tenant: every chunk that was ever embedded for it

    def other(self, answer: Answer, query: int) -> Answer | None:
        """Return the answer to another question, under the same profile where it was asked under that."""
        theirs = [each for each in self.answers if each.query == query]
        return next((each for each in theirs if each.profile == answer.profile), theirs[0] if theirs else None)


def normal(text: str) -> str:
    """Return the form in which texts are compared: NFKC, each run of white space as one blank."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def has(text: str, wanted: str) -> bool:
    """Tell whether a text contains another in normal form; one that is all white space is looked for as it stands."""
    return normal(wanted) in normal(text) if normal(wanted) else wanted in text
