"""Full-text lexemes: our own tokens as Postgres tsvector and tsquery literals, so that every lexical leg cuts alike."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.chunks import Level


@dataclass(frozen=True, kw_only=True)
class TextRow:
    """A chunk ready for the text index; `lexemes` is a tsvector literal."""

    id: str
    level: Level
    heading_path: tuple[str, ...]
    body: str
    lexemes: str
