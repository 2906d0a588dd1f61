"""What extraction without a model finds: names and related pairs of CoNLL04, and milliseconds for a chunk.

Needs a folder with dev.jsonl, one sentence a line: {"tokens": […], "entities": [{"type", "start", "end"}], "relations":
[{"head", "tail"}]}, with tokens numbered from 0 and ends exclusive (Roth and Yih, A Linear Programming Formulation for
Global Inference in Natural Language Tasks, CoNLL 2004): CONLL04=folder.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.figures import Figure, spread
from schemas.graph import Relation
from streams.domain import extraction, mentions

FOLDER = "CONLL04"
KINDS = {"person": "Peop", "place": "Loc", "organization": "Org"}
UNNAMED = {"term", "code"}  # noun phrases and code: the set marks names only
CLOSING = {",", ".", ";", ":", ")", "]", "!", "?", "%", "'s", "''", "'"}


@dataclass(kw_only=True)
class Counts:
    """Right ones, those found, those that there are."""

    right: int = 0
    found: int = 0
    gold: int = 0

    def add(self, found: Iterable[Any], gold: Iterable[Any]) -> None:
        """Count one sentence."""
        one, other = set(found), set(gold)
        self.right += len(one & other)
        self.found += len(one)
        self.gold += len(other)

    def figure(self, name: str) -> Figure:
        """Return F1, with precision and recall in the note."""
        precision = self.right / self.found if self.found else 0.0
        recall = self.right / self.gold if self.gold else 0.0
        f1 = 2 * precision * recall / (precision + recall) if self.right else 0.0
        note = f"precision {precision:.3f}, recall {recall:.3f}, {self.gold} in the set"
        return Figure(name=name, value=f1, unit="F1", note=note)


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence as running text, with its names as places in it and its related pairs as keys."""

    text: str
    spans: dict[tuple[int, int], str]  # to the type
    pairs: frozenset[frozenset[str]]


async def measure(file: str = "dev.jsonl") -> Sequence[Figure]:
    """Measure on the set; none, with a line that says so, where there is no folder."""
    path = Path(os.environ.get(FOLDER, "")) / file
    if not os.environ.get(FOLDER) or not path.is_file():
        print(f"  skipped: set {FOLDER}=folder, a folder with {file} of CoNLL04 (see bench/extraction.py)")
        return []
    return measured([_sentence(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line])


def measured(sentences: Sequence[Sentence]) -> list[Figure]:
    """Return the figures of a set."""
    names, three, typed = Counts(), Counts(), Counts()
    worded, every = Counts(), Counts()
    milliseconds = []
    for sentence in sentences:
        found = _found(sentence.text)
        kinds = {span: KINDS[kind] for span, kind in found.items() if kind in KINDS}
        gold = {span: kind for span, kind in sentence.spans.items() if kind in KINDS.values()}
        names.add(found, sentence.spans)
        three.add(found, gold)
        typed.add(kinds.items(), gold.items())
        result = extraction.extract(chunk_id="", heading_path=(), body=sentence.text, language="en")
        named = {entity.key for entity in result.entities if entity.kind not in UNNAMED}
        worded.add(_pairs((each for each in result.relations if each.label), named), sentence.pairs)
        every.add(_pairs(result.relations, named), sentence.pairs)
    texts = " ".join(sentence.text for sentence in sentences)
    for start in range(0, min(len(texts), 200_000) - 3_500, 3_500):
        began = time.perf_counter()
        extraction.extract(chunk_id="", heading_path=("News",), body=texts[start : start + 3_500], language="en")
        milliseconds.append((time.perf_counter() - began) * 1_000)
    return [
        names.figure("names, all four types of the set, untyped"),
        three.figure("names of people, places, organizations, untyped"),
        typed.figure("names of people, places, organizations, typed"),
        worded.figure("related pairs, connected by words"),
        every.figure("related pairs, with occurring together"),
        *(spread("3,500 characters of English", milliseconds) if milliseconds else []),
    ]


def _pairs(relations: Iterable[Relation], named: set[str]) -> set[frozenset[str]]:
    """Return the pairs of names, in no order."""
    return {frozenset((each.subject, each.object)) for each in relations if {each.subject, each.object} <= named}


def _found(text: str) -> dict[tuple[int, int], str]:
    """Return where the names are, and their kinds; those inside of a phrase too."""
    found: dict[tuple[int, int], str] = {}
    for sentence in mentions.tagged(text, "en"):
        for mention in mentions.of_sentence(sentence, "en"):
            for each in (mention, *mention.inner):
                if each.kind not in UNNAMED:
                    found[_trimmed(text, each.start, each.end)] = each.kind
    return found


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    return start, start + len(text[start:end].rstrip(". '"))


def _sentence(line: dict[str, Any]) -> Sentence:
    text, places = _joined(line["tokens"])
    spans = {}
    keys = []
    for entity in line["entities"]:
        start, end = places[entity["start"]][0], places[entity["end"] - 1][1]
        spans[_trimmed(text, start, end)] = entity["type"]
        keys.append(_key(text[start:end]))
    pairs = {frozenset((keys[each["head"]], keys[each["tail"]])) for each in line["relations"]}
    return Sentence(text=text, spans=spans, pairs=frozenset(pair for pair in pairs if len(pair) == 2))


def _key(name: str) -> str:
    """Return the key that a name has, with no sentence around it."""
    for sentence in mentions.tagged(f"of {name}", "en"):
        for mention in mentions.of_sentence(sentence, "en"):
            return mention.key
    return name.lower()


def _joined(tokens: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """Join tokens as people write; return the text and the place of each token in it."""
    text = ""
    places = []
    for number, raw in enumerate(tokens):
        token = {"-LRB-": "(", "-RRB-": ")", "`": "'", "_": "-"}.get(raw, raw)
        before = tokens[number - 1] if number else "("
        glued = token in CLOSING or before in {"(", "$", "[", "`"} or (token == ")" and before != "(")
        text += token if glued else f" {token}"
        places.append((len(text) - len(token), len(text)))
    return text, places
