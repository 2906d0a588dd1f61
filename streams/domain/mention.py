"""A mention: something that a sentence names, and the key that it shares with other mentions of the same thing."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.graph import EntityKind
from streams.domain import russian
from streams.domain.words import Word

LONGEST_KEY = 100  # characters
LONGEST_NAME = 8  # words


@dataclass(frozen=True, kw_only=True)
class Mention:
    """Something named at words `first` to `last` (exclusive) of a sentence."""

    key: str
    name: str
    kind: EntityKind
    first: int
    last: int
    start: int  # characters of the text
    end: int
    head: tuple[str, str] | None = None  # key and name of what it is a kind of: "plan" for "team plan"
    inner: tuple[Mention, ...] = ()  # names inside of it


def key_of(phrase: Sequence[Word]) -> str:
    """Return the key of a phrase: lemmas, without marks, titles and dots at the end."""
    parts = [lemma_of(word).strip(".'’\"\0") for word in phrase if word.tag not in {",", '"', "("}]
    return " ".join(part for part in parts if part)[:LONGEST_KEY].strip()


def lemma_of(word: Word) -> str:
    if word.tag in {"k", "m", "$"}:
        return " ".join(word.lower.removesuffix("()").replace("\0", "").split())
    if word.tag in {"n", "N"} and russian.cyrillic(word.lower) and word.traits:
        return russian.form(word.lower, True).lemma
    return (word.lemma or word.lower).replace("ё", "е")


def written(phrase: Sequence[Word]) -> str:
    """Return a phrase as it is written, one blank wherever the text has any."""
    text = ""
    for number, word in enumerate(phrase):
        text += (" " if number and word.start > phrase[number - 1].end else "") + word.text
    return " ".join(text.split()).replace("\0", "")[:LONGEST_KEY]


def spanning(sentence: Sequence[Word], first: int, last: int, kind: EntityKind) -> Mention:
    phrase = sentence[first:last]
    return Mention(
        key=key_of(phrase), name=written(phrase), kind=kind, first=first, last=last,
        start=phrase[0].start, end=phrase[-1].end,
    )  # fmt: skip


def headed(sentence: Sequence[Word], first: int, last: int, kind: EntityKind, head: Word) -> Mention:
    whole = spanning(sentence, first, last, kind)
    if last - first < 2:
        return whole
    return dataclasses.replace(whole, head=(key_of([head]), head.text))
