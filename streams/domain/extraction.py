"""Entities and relations of a chunk, without a model: rules and morphology for English and Russian.

Other languages give names, code-like tokens and what occurs together. What a heading names is what its section speaks
of: list items, and sentences that start with "it" or with a verb, are said of it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.graph import Entity, EntityKind, Relation
from streams.domain import layout, mentions, relations, tables
from streams.domain.mention import LONGEST_KEY, Mention
from streams.domain.words import Word

MOST_ENTITIES = 60  # of a chunk
MOST_RELATIONS = 120
MOST_KEYS = 32  # of a question
_MOST_CHARACTERS = 10_000  # of a body that are read; a parent chunk has 3,500
_MOST_CODE = 12  # tokens of a code block
_LISTED, _PART_OF, _ABOUT = 0.8, 0.5, 0.25  # weights; see relations.py for the others
_SAYS = {"ru": ("включает", "часть"), "en": ("includes", "part of")}
_PAIR = re.compile(r"([^:—–\n]{2,60}?)(?::| [—–-])\s+(\S.*)", re.DOTALL)
_SAYS_LITTLE = {"term": 2, "name": 1}  # kinds that give way to others
_IN_HEADING = 10  # mentions that one in a heading counts for


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """What a chunk speaks of and how it connects: at most 60 entities and 120 relations between them."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


def extract(*, chunk_id: str, heading_path: Sequence[str], body: str, language: str) -> Extraction:
    """Return the entities and relations of a chunk; the same text always gives the same ones, for any text."""
    reader = _Reader(language=language)
    reader.read_headings(heading_path)
    reader.read_body(mentions.composed(body[:_MOST_CHARACTERS]))
    return reader.result(chunk_id)


def of_question(text: str, language: str) -> tuple[str, ...]:
    """Return the keys of the entities that a question names, each followed by those of its parts; at most 32."""
    keys: list[str] = []
    for sentence in mentions.tagged(mentions.composed(text[:_MOST_CHARACTERS]), language):
        for mention in mentions.of_sentence(sentence, language):
            keys.append(mention.key)
            parts = mention.key.split(" ")
            if mention.kind in {"term", "product"}:
                keys += [" ".join(parts[start:]) for start in range(1, len(parts) - 1)]
            keys += [inner.key for inner in mention.inner]
            keys += [inner.head[0] for inner in mention.inner if inner.head]
            keys += [mention.head[0]] if mention.head else []
    return tuple(dict.fromkeys(key for key in keys if key))[:MOST_KEYS]


@dataclass
class _Known:
    name: str
    kind: EntityKind
    mentions: int
    weight: float = 0.0


class _Reader:
    """Gathers what the pieces of one chunk say."""

    def __init__(self, *, language: str) -> None:
        self._language = language
        self._entities: dict[str, _Known] = {}
        self._links: dict[tuple[str, str, str], float] = {}
        self._topic = ""
        self._heading_keys: list[str] = []
        self._includes, self._part_of = _SAYS.get(language, _SAYS["en"])

    def read_headings(self, path: Sequence[str]) -> None:
        """Take the first thing that the last heading names as the topic, a part of what the one above names."""
        for heading in path[-6:]:
            found = self._sentence_links(mentions.composed(heading[:400]), title=True)
            if not found:
                continue
            for mention in found:
                self._entities[mention.key].mentions += _IN_HEADING
            self._heading_keys = [mention.key for mention in found]
            if self._topic:
                self._link(found[0].key, self._part_of, self._topic, _PART_OF)
            self._topic = found[0].key

    def read_body(self, body: str) -> None:
        """Read the pieces of a body in order."""
        for piece in layout.pieces(body):
            if piece.kind == "table":
                self._add(tables.of_rows(piece.rows, self._read_cell, language=self._language))
            elif piece.kind == "code":
                self._read_code(piece.text)
            elif piece.kind == "item":
                self._read_item(piece)
            else:
                self._sentence_links(piece.text)
        for key in list(self._entities):
            if self._topic and key not in self._heading_keys:
                self._link(self._topic, "", key, _ABOUT)

    def result(self, chunk_id: str) -> Extraction:
        """Return the entities that matter most, and the strongest relations between them, in order of appearance."""
        for (subject, _, target), weight in self._links.items():
            for key in (subject, target):
                if key in self._entities:
                    self._entities[key].weight += weight
        order = {key: place for place, key in enumerate(self._entities)}
        ranked = sorted(order, key=lambda key: (-self._entities[key].mentions - self._entities[key].weight, order[key]))
        kept = set(ranked[:MOST_ENTITIES])
        links = [link for link in self._spoken() if link[0] in kept and link[2] in kept]
        strongest = sorted(range(len(links)), key=lambda place: (-self._links[links[place]], place))[:MOST_RELATIONS]
        return Extraction(
            entities=tuple(
                Entity(key=key, name=known.name, kind=known.kind, chunk_id=chunk_id, mentions=known.mentions)
                for key, known in self._entities.items()
                if key in kept
            ),
            relations=tuple(
                Relation(
                    subject=links[place][0],
                    label=links[place][1],
                    object=links[place][2],
                    chunk_id=chunk_id,
                    weight=round(self._links[links[place]], 3),
                )
                for place in sorted(strongest)
            ),
        )

    def _spoken(self) -> list[tuple[str, str, str]]:
        """Return the links, without those that only say what another link of the same two says in words."""
        worded = {frozenset((link[0], link[2])) for link in self._links if link[1]}
        seen: set[frozenset[str]] = set()
        found = []
        for link in self._links:
            pair = frozenset((link[0], link[2]))
            if not link[1] and (pair in worded or pair in seen):
                continue
            if not link[1]:
                seen.add(pair)
            found.append(link)
        return found

    def _sentence_links(self, text: str, *, title: bool = False) -> list[Mention]:
        """Read running text; return its mentions."""
        every: list[Mention] = []
        topic = self._topic
        for sentence in mentions.tagged(text, self._language, title=title):
            found = mentions.of_sentence(sentence, self._language)
            said = self._read_sentence(sentence, found, topic)
            topic = said or topic
            every += found
        return every

    def _read_sentence(self, sentence: Sequence[Word], found: Sequence[Mention], topic: str) -> str:
        self._count(found)
        said = relations.of_sentence(sentence, found, topic=topic, language=self._language)
        self._add(said.links)
        return said.subject

    def _read_item(self, piece: layout.Piece) -> None:
        owner, label = self._led_by(piece.lead)
        if (pair := _PAIR.fullmatch(piece.text)) and self._read_pair(pair[1], pair[2], owner):
            return
        for number, sentence in enumerate(mentions.tagged(piece.text, self._language)):
            found = mentions.of_sentence(sentence, self._language)
            self._read_sentence(sentence, found, owner)
            if number == 0 and found and not relations.label(sentence[: found[0].first]):
                heads = [found[0]] if relations.label(sentence) else found[:4]
                for mention in heads:
                    if not (mention.head and mention.head[0] == owner):
                        self._link(owner, label, mention.key, _LISTED)

    def _read_pair(self, name: str, value: str, owner: str) -> bool:
        """Read "Price: 12 euros" as the owner's price; with a sentence as its value the name is what that speaks of."""
        sentences = mentions.tagged(name, self._language)
        if len(sentences) != 1 or relations.label(sentences[0]):
            return False
        found = mentions.of_sentence(sentences[0], self._language)
        if not found:
            return False
        self._count(found)
        self._link(owner, self._includes, found[0].key, _PART_OF)
        for sentence in mentions.tagged(value, self._language):
            values = mentions.of_sentence(sentence, self._language)
            self._read_sentence(sentence, values, found[0].key)
            if relations.label(sentence):
                continue
            for each in values[:4] or self._read_cell(value, name):
                self._link(owner, " ".join(name.lower().strip("`").split()), each.key, _LISTED)
        return True

    def _led_by(self, lead: str) -> tuple[str, str]:
        """Return of what a list is, and what it says of it: of "The Team plan includes:" the plan, and "includes"."""
        for sentence in mentions.tagged(lead, self._language)[-1:]:
            found = mentions.of_sentence(sentence, self._language)
            if found and (label := relations.label(sentence[found[-1].last :])):
                return found[0].key, label
        return self._topic, self._includes

    def _read_cell(self, cell: str, label: str) -> list[Mention]:
        """Return what a cell of a table names: its mentions, else all of it; a number is one of what the label says."""
        found = []
        for sentence in mentions.tagged(cell[:300], self._language, title=True):
            found += mentions.of_sentence(sentence, self._language)
        if not found and len(cell) <= 60 and (whole := mentions.whole_of(cell, self._language)):
            if not any(letter.isalpha() for letter in whole.key):
                of = mentions.whole_of(label, self._language)
                whole = dataclasses.replace(whole, key=f"{of.key} {whole.key}"[:LONGEST_KEY]) if of else None
            found = [whole] if whole else []
        self._count(found)
        return found

    def _read_code(self, text: str) -> None:
        self._count(list(self._codes(text))[:_MOST_CODE])

    def _codes(self, text: str) -> Iterable[Mention]:
        for sentence in mentions.tagged(text, ""):
            yield from (mention for mention in mentions.of_sentence(sentence, "") if mention.kind == "code")

    def _count(self, found: Iterable[Mention]) -> None:
        for mention in found:
            self._know(mention.key, mention.name, mention.kind)
            self._count(mention.inner)
            if mention.head:
                self._know(mention.head[0], mention.head[1], "person" if mention.kind == "person" else "term")

    def _know(self, key: str, name: str, kind: EntityKind) -> None:
        if not key:
            return
        known = self._entities.get(key)
        if known is None:
            self._entities[key] = _Known(name=name, kind=kind, mentions=1)
            return
        known.mentions += 1
        if _SAYS_LITTLE.get(kind, 0) < _SAYS_LITTLE.get(known.kind, 0):
            known.kind = kind

    def _add(self, links: Iterable[relations.Link]) -> None:
        for link in links:
            self._link(*link)

    def _link(self, subject: str, label: str, target: str, weight: float) -> None:
        if subject and target and subject != target:
            key = (subject, label, target)
            self._links[key] = max(self._links.get(key, 0.0), weight)
