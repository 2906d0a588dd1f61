"""Phrases of common nouns: what of a run of adjectives and nouns is one thing, and amounts with their unit."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from streams.domain import english_words, russian
from streams.domain.lexicon import listed
from streams.domain.mention import LONGEST_KEY, Mention, headed, lemma_of, spanning, written
from streams.domain.words import Word

_LONGEST_TERM = 4  # words, from the last one backwards
_PER = frozenset({"per", "a", "each", "/", "в", "за", "на"})
_UNITS = listed(
    "second minute hour day week month year user seat секунда минута час день неделя месяц год сутки пользователь"
)


def counts(sentence: Sequence[Word], place: int) -> bool:
    number = sentence[place].text
    following = sentence[place + 1] if place + 1 < len(sentence) else None
    if following is None or not number[0].isdigit():
        return False
    return following.tag == "n" or (following.tag == "N" and following.text.isupper() and len(following.text) < 4)


def end_of_rate(sentence: Sequence[Word], place: int) -> int:
    """Return where an amount ends that may go on with "per month"."""
    if place + 1 < len(sentence) and sentence[place].lower in _PER and sentence[place + 1].tag == "n":
        return place + 2 if sentence[place].lower in {"per", "/"} or sentence[place + 1].lemma in _UNITS else place
    return place


def common(sentence: Sequence[Word], first: int, last: int, language: str) -> Iterator[Mention]:
    while last > first and sentence[last - 1].tag == "a":
        last -= 1
    if first == last:
        return
    if language == "ru" and any(russian.cyrillic(word.lower) for word in sentence[first:last]):
        yield from _genitives(sentence, first, last)
        return
    first = max(first, last - _LONGEST_TERM)
    head = sentence[last - 1]
    if head.lemma in english_words.EMPTY_NOUNS or len(head.text) < 2:
        return
    acronyms = tuple(
        spanning(sentence, place, place + 1, "term")
        for place in range(first, last - 1)
        if len(sentence[place].text) > 1 and sentence[place].text.isupper()
    )
    yield dataclasses.replace(headed(sentence, first, last, "term", head), inner=acronyms)


def _genitives(sentence: Sequence[Word], first: int, last: int) -> Iterator[Mention]:
    """Yield Russian phrases: adjectives with their noun, and a noun with the one behind it in the genitive."""
    pieces: list[tuple[int, int]] = []
    start = first
    for place in range(first, last):
        if sentence[place].tag == "n":
            pieces.append((start, place + 1))
            start = place + 1
    number = 0
    while number < len(pieces):
        start, end = pieces[number]
        head = sentence[end - 1]
        number += 1
        if russian.names_nothing(lemma_of(head)) or len(head.text) < 2:
            continue
        whole = _nominative(headed(sentence, max(start, end - _LONGEST_TERM), end, "term", head), sentence)
        if number < len(pieces) and "gent" in sentence[pieces[number][1] - 1].traits:
            start, far = pieces[number]
            owner = _nominative(headed(sentence, start, far, "term", sentence[far - 1]), sentence)
            number += 1
            yield Mention(
                key=f"{whole.key} {owner.key}"[:LONGEST_KEY].strip(),
                name=f"{whole.name} {written(sentence[start:far])}"[:LONGEST_KEY],
                kind="term", first=whole.first, last=far, start=whole.start, end=sentence[far - 1].end,
                head=(whole.key, whole.name), inner=(owner,),
            )  # fmt: skip
        else:
            yield whole


def _nominative(mention: Mention, sentence: Sequence[Word]) -> Mention:
    """Name a Russian phrase as a dictionary would, where all of its words stand in one line of case."""
    phrase = sentence[mention.first : mention.last]
    if not all(russian.cyrillic(word.lower) and word.text.islower() for word in phrase):
        return mention
    noun = phrase[-1].lower
    name = " ".join([*(russian.nominative(word.lower, noun) for word in phrase[:-1]), russian.nominative(noun)])
    head = (mention.head[0], russian.nominative(phrase[-1].lower)) if mention.head else None
    return dataclasses.replace(mention, name=name, head=head)
