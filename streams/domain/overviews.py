"""Overviews: what the passages around a cluster of entities say, in short, by a language model, for broad questions.

Source: Edge et al., "From Local to Global: A GraphRAG Approach to Query-Focused Summarization" (2024), of which this is
the cheap half: summaries are made beforehand, and found by their words without a model. What the model says is believed
sentence by sentence: every number must stand in the passages that it saw, as must half of a sentence's telling words;
links and orders are dropped. An overview stands on all passages the model saw, and falls with any of them.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.chunks import chunk_text
from schemas.graph import Overview
from schemas.queries import Hit
from streams.domain import normalise, prompts
from streams.domain.broad import Broad
from streams.domain.identity import length_prefixed
from streams.domain.prompts import Prompt

MOST_TOKENS = 400  # of an answer
LEAST_PASSAGES, MOST_PASSAGES = 2, 8  # behind an overview
MOST_CHARACTERS = 8_000  # of them, as the model sees them
LONGEST_PASSAGE = 1_500
MOST_SENTENCES, LONGEST, LONGEST_TITLE = 6, 900, 80  # characters
SPOKEN_OF = 0.5  # share of a sentence's telling words that stand in the passages
FOUND = 12  # overviews that a search reads
SHOWN = 3  # of them, in a reply
WITHOUT_TERMS = 0.5  # the score of one where the question has no terms to look for
EVIDENCE, NEXT = 0.5, 0.9  # what the first passage of an overview that fits wholly scores, and each next one of it

_SYSTEM = (
    "You write an overview of passages from one collection, for people who ask broad questions. First write a line "
    "that begins with TITLE: and has at most eight words. Then write three to five plain sentences: what the passages "
    "are about, and the main things that they say. Use only what stands in them, use their language, no lists, no "
    "links, and no number that is not in the text. " + prompts.DATA
)
_TITLE = re.compile(r"^\W*title\W*?:[^\S\n]*(?P<title>[^\n]*)\n?", re.IGNORECASE | re.MULTILINE)
_SENTENCES = re.compile(r"(?<=[.!?…。！？।])\s+|\n+")
# Code, tags and tables are no sentences, nor is what has no end: headings, questions, and where the tokens ran out.
_STATEMENT = re.compile(r"[^{}<>|]*[.!…。！।][\"'”»)]*")
_WITHOUT_STOPS = frozenset({"th", "lo", "km", "my"})  # languages that end a sentence with a blank
_LINK = re.compile(r"\w+://|\bwww\.|\w@\w")
# What speaks to a model instead of about the passages.
_ORDER = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,60}\b(?:instructions?|prompts?|rules)\b|^\W*(?:system|assistant|user)\s*:"
    r"|\b(?:system prompt|you are now|as an ai)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A live passage that speaks of a cluster."""

    chunk_id: str
    heading_path: tuple[str, ...]
    body: str
    language: str


@dataclass(frozen=True, kw_only=True)
class Made:
    """An overview as it is stored; one without a text says that the model's answer was not believed."""

    hash: str  # of all that it was made from: the passages, the prompt, the model
    title: str
    text: str
    language: str
    weight: float  # of its cluster
    evidence: tuple[str, ...]  # the chunks it stands on, those that speak most of the cluster first
    model: str


@dataclass(frozen=True, kw_only=True)
class Matched:
    """A stored overview whose evidence is live and visible."""

    hash: str
    title: str
    text: str
    weight: float
    evidence: tuple[str, ...]
    terms: tuple[int, ...]  # the places of the terms that it has


@dataclass(frozen=True, kw_only=True)
class OverviewsFound:
    """What a search found; `known`: the tenant has overviews at all."""

    matched: Sequence[Matched]
    known: bool


def seen_of(sources: Sequence[Source]) -> list[Source]:
    """Return the passages that a model is shown, cut to the room there is; none where they are too few."""
    kept: list[Source] = []
    room = MOST_CHARACTERS
    for source in sources[:MOST_PASSAGES]:
        body = source.body[: max(0, min(LONGEST_PASSAGE, room - len(chunk_text(source.heading_path, ""))))]
        if body.strip():
            cut = Source(
                chunk_id=source.chunk_id, heading_path=source.heading_path, body=body, language=source.language
            )
            room -= len(_text(cut))
            kept.append(cut)
    return kept if len(kept) >= LEAST_PASSAGES else []


def prompt(seen: Sequence[Source], mark: str) -> Prompt:
    """Return the prompt for the passages of a cluster."""
    return Prompt(system=_SYSTEM, user="\n".join(prompts.fenced("passage", _text(source), mark) for source in seen))


def hash_of(seen: Sequence[Source], model: str) -> str:
    """Return the hex SHA-256 of what an overview follows from; other passages, words of ours or model: another one."""
    asked = prompt(seen, "")
    parts = (model, asked.system, asked.user, *(source.chunk_id for source in seen))
    return hashlib.sha256(length_prefixed(parts).encode("utf-8", "replace")).hexdigest()


def language_of(seen: Sequence[Source]) -> str:
    """Return the language of most passages, of several the first by name."""
    counts = Counter(source.language for source in seen)
    return min(counts, key=lambda language: (-counts[language], language))


def read(said: str, seen: Sequence[Source], keys: Sequence[str]) -> tuple[str, str] | None:
    """Return title and text of what is believed of an answer; none where no sentence is.

    Without a title that is believed, the names of the first `keys` are one.
    """
    whole, language = "\n".join(_text(source) for source in seen), language_of(seen)
    said = prompts.plain(said, 8 * LONGEST)
    titled = _TITLE.search(said)
    title = normalise.normalise_question(titled["title"]).strip(" *#\"'“”«»_")[:LONGEST_TITLE] if titled else ""
    sentences: list[str] = []
    room = LONGEST
    for raw in _SENTENCES.split(_TITLE.sub("", said)):
        sentence = normalise.normalise_question(raw).lstrip("-*•# ")
        ended = language in _WITHOUT_STOPS or _STATEMENT.fullmatch(sentence)
        good = ended and len(sentence) < room and sentence not in sentences and _believed(sentence, whole, language)
        if good and len(sentences) < MOST_SENTENCES:
            room -= len(sentence) + 1
            sentences.append(sentence)
    if not sentences:
        return None
    if not _believed(title, whole, language):
        title = ", ".join(keys[:3])[:LONGEST_TITLE]
    return title, " ".join(sentences)


def rank(found: Sequence[Matched], asked: Broad) -> list[Overview]:
    """Return the overviews that fit a question, best first, scored by the share of its terms that they have."""
    terms = len(asked.terms)
    scored = [(len(each.terms) / terms if terms else WITHOUT_TERMS, each) for each in found]
    kept = [(share, each) for share, each in scored if share >= asked.share]
    kept.sort(key=lambda pair: (-pair[0], -pair[1].weight, pair[1].hash))
    return [
        Overview(title=each.title, text=each.text, evidence=each.evidence, score=share) for share, each in kept[:SHOWN]
    ]


def hits(found: Sequence[Overview]) -> list[Hit]:
    """Return the passages behind overviews as hits of the graph leg, each with its best score."""
    best: dict[str, float] = {}
    for overview in found:
        for place, chunk_id in enumerate(overview.evidence):
            best[chunk_id] = max(best.get(chunk_id, 0.0), EVIDENCE * overview.score * NEXT**place)
    return merged([Hit(chunk_id=chunk_id, score=score) for chunk_id, score in best.items()], [])


def merged(some: Sequence[Hit], others: Sequence[Hit]) -> list[Hit]:
    """Return two lists of hits as one, best first, each chunk with its best score."""
    best: dict[str, float] = {}
    for hit in (*some, *others):
        best[hit.chunk_id] = max(best.get(hit.chunk_id, 0.0), hit.score)
    return [
        Hit(chunk_id=chunk_id, score=score)
        for chunk_id, score in sorted(best.items(), key=lambda item: (-item[1], item[0]))
    ]


def _text(source: Source) -> str:
    return chunk_text(source.heading_path, source.body)


def _believed(said: str, seen: str, language: str) -> bool:
    return (
        bool(said)
        and not _LINK.search(said)
        and not _ORDER.search(said)
        and prompts.confirmed(said, seen)
        and prompts.spoken_of(said, seen, language) >= SPOKEN_OF
    )
