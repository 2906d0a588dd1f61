"""Entities and relations of a text: capitalised runs and code tokens, related where they share a sentence."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass

from schemas.graph import Entity, Relation

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_NAME = re.compile(r"\b(?:[A-ZА-ЯЁ][\w-]*)(?: [A-ZА-ЯЁ][\w-]*)*|\b[A-Za-z]+\d+\w*")
_OPENING = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at by can do does for from how i if in is it of on or the this that to what when where which "
        "who why with you each use send see как что где кто какой какая какие в на и с по это",
    )
)


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """What a chunk says."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


def extract(*, chunk_id: str, heading_path: tuple[str, ...], body: str, language: str) -> Extraction:
    """Return the names of a chunk, and which of them share a sentence."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    pairs: dict[tuple[str, str], None] = {}
    for sentence in (*heading_path, *_SENTENCE.split(body)):
        found = dict(_names(sentence))
        for key, name in found.items():
            names.setdefault(key, name)
            counts[key] += 1
        pairs |= dict.fromkeys(itertools.combinations(sorted(found)[:8], 2))
    return Extraction(
        entities=tuple(
            Entity(key=key, name=name, kind="name", chunk_id=chunk_id, mentions=counts[key])
            for key, name in names.items()
        ),
        relations=tuple(Relation(subject=a, object=b, label="", chunk_id=chunk_id, weight=0.5) for a, b in pairs),
    )


def of_question(text: str, language: str) -> tuple[str, ...]:
    """Return the keys of the names in a question."""
    return tuple(dict(_names(text)))


def _names(text: str) -> list[tuple[str, str]]:
    found = []
    for match in _NAME.finditer(text):
        words = match[0].split()
        while words and words[0].lower() in _OPENING:
            words = words[1:]
        if words and (len(name := " ".join(words)) > 1):
            found.append((name.lower(), name))
    return found
