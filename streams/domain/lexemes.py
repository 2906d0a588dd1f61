"""Full-text lexemes: our own tokens as Postgres tsvector and tsquery literals, so that every lexical leg cuts alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.chunks import Level
from schemas.queries import Hit
from streams.domain.tokens import Token, tokens

# Postgres' limits on a tsvector (documentation, "Limitations" of full text search).
LONGEST_LEXEME = 2_046  # bytes
LAST_POSITION = 16_383
MOST_POSITIONS = 255  # of one lexeme
LONGEST_VECTOR = 1_000_000  # bytes; the limit is 2**20, and a literal is never shorter than what is stored

HEADING_GAP = 8  # positions between headings and body: a cover that spans both is no close one


@dataclass(frozen=True, kw_only=True)
class TextFound:
    """What a full-text search found, and how common each of its terms is among the tenant's passages of that kind."""

    hits: list[Hit]
    frequencies: tuple[int, ...] = ()  # passages that have each term, in the order asked; empty: not known
    counted: int = 0  # the tenant's passages of that kind


@dataclass(frozen=True, kw_only=True)
class TextRow:
    """A chunk ready for the text index; `lexemes` is a tsvector literal."""

    id: str
    level: Level
    heading_path: tuple[str, ...]
    body: str
    lexemes: str


def tsvector(heading_path: Sequence[str], body: str, language: str) -> str:
    """Return a tsvector literal: terms with positions, those of the headings with weight A, of the body with D.

    Holds Postgres' limits by leaving out what exceeds them: positions after the last one, then whole lexemes.
    """
    places: dict[str, list[str]] = {}
    headings = tokens("\n".join(heading_path), language)
    _add(places, headings, 1, "A")
    _add(places, tokens(body, language), headings[-1].position + HEADING_GAP if headings else 1, "")
    lexemes: list[str] = []
    room = LONGEST_VECTOR
    for term, positions in places.items():
        lexeme = f"{quote(term)}:{','.join(positions)}" if positions else quote(term)
        room -= len(lexeme.encode()) + 1
        if room < 0:
            break
        lexemes.append(lexeme)
    return " ".join(lexemes)


def tsquery(terms: Iterable[str], *, prefix: bool = False) -> str:
    """Return a tsquery literal that any one of the `terms` satisfies; "" for none. Any text is safe as a term.

    With `prefix` a term is also satisfied by a word that begins with it.
    """
    ending = ":*" if prefix else ""
    return " | ".join(dict.fromkeys(f"{quote(term)}{ending}" for term in terms if term.strip("\0")))


def quote(term: str) -> str:
    """Return a term as a quoted lexeme of at most 2,046 bytes, which no character of it can leave."""
    data = term.replace("\0", "").encode("utf-8", "replace")
    if len(data) > LONGEST_LEXEME:
        data = data[:LONGEST_LEXEME]
    lexeme = data.decode("utf-8", "ignore").replace("\\", "\\\\").replace("'", "''")
    return f"'{lexeme}'"


def _add(places: dict[str, list[str]], found: Iterable[Token], start: int, weight: str) -> None:
    for token in found:
        positions = places.setdefault(token.term, [])
        position = token.position + start
        if position <= LAST_POSITION and len(positions) < MOST_POSITIONS:
            positions.append(f"{position}{weight}")
