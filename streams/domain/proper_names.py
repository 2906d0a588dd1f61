"""Names of a sentence: capitals in a row, what is in quotes, and common nouns that belong to a name ("Team plan")."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from schemas.graph import EntityKind
from streams.domain import english_words, name_words, names, noun_phrases, russian
from streams.domain.lexicon import listed
from streams.domain.mention import LONGEST_KEY, LONGEST_NAME, Mention, headed, key_of, spanning
from streams.domain.words import Word

_GOVERNING = listed("government administration police army ministry delegation legislature")
_PRODUCTS = listed("plan tier edition app platform cloud suite package add-on addon")


def named(  # noqa: PLR0912 the languages differ here
    sentence: Sequence[Word], first: int, last: int, run_end: int, language: str
) -> Iterator[Mention]:
    """Yield a name; with common nouns behind it ("Team plan") the whole phrase, the name inside of it."""
    if language == "ru":
        *before, (first, last) = _people_apart(sentence, first, last)
        for start, end in before:
            yield _russian(sentence, start, end)
        name = _russian(sentence, first, last)
    elif language != "en":
        name = spanning(sentence, first, last, "name")
        if last - first > 1:
            name = dataclasses.replace(name, head=(key_of([sentence[last - 1]]), sentence[last - 1].text))
    else:
        pieces = names.parts(sentence[first:last])
        if not pieces:
            yield from noun_phrases.common(
                sentence, first, run_end if _all_common(sentence, last, run_end) else last, language
            )
            return
        for start, stop in pieces[:-1]:
            yield _english(sentence, first + start, first + stop)
        name = _english(sentence, first + pieces[-1][0], first + pieces[-1][1])
    end = last
    while end < run_end and sentence[end].tag != "N":
        end += 1
    while end > last and sentence[end - 1].tag == "a":
        end -= 1
    cyrillic_noun = language == "ru" and end > last and "gent" in sentence[last].traits and sentence[last].tag == "n"
    if cyrillic_noun and name.last - name.first == 1 and name.kind in {"name", "organization"}:
        far = last + 1
        yield dataclasses.replace(
            headed(
                sentence, name.first, far, "organization" if russian.is_office(name.key) else "name", sentence[first]
            ),
            inner=(spanning(sentence, last, far, "term"),),
        )
        if far < run_end:
            yield from noun_phrases.common(sentence, far, run_end, language)
        return
    if end == last or cyrillic_noun or sentence[end - 1].lemma in english_words.EMPTY_NOUNS:
        yield name
        if end > last:
            yield from noun_phrases.common(sentence, last, end, language)
        return
    head = sentence[end - 1]
    kind: EntityKind = "term"
    if head.lower in _GOVERNING:
        kind = "organization"
    elif head.lemma in _PRODUCTS:
        kind = "product"
    whole = headed(sentence, max(name.first, end - LONGEST_NAME), end, kind, head)
    yield dataclasses.replace(whole, inner=(name,))


def _all_common(sentence: Sequence[Word], first: int, last: int) -> bool:
    return all(word.tag != "N" for word in sentence[first:last])


def _english(sentence: Sequence[Word], first: int, last: int) -> Mention:
    first = max(first, last - LONGEST_NAME)
    bare = first + names.bare(sentence[first:last])
    kind = names.kind(sentence[bare:last], sentence[max(0, bare - 2) : bare], sentence[last : last + 2])
    name = dataclasses.replace(spanning(sentence, first, last, kind), key=key_of(sentence[bare:last]))
    surname = sentence[last - 1]
    if kind == "person" and last - bare > 1 and len(surname.text) > 2:
        return dataclasses.replace(name, head=(key_of([surname]), surname.text))
    if kind in {"organization", "place"} and last - bare > 1 and "of" not in {w.lower for w in sentence[bare:last]}:
        ends = surname.lower
        if ends in name_words.ORGANIZATIONS or ends in name_words.PLACE_ENDS:
            return dataclasses.replace(name, head=(key_of([surname]), surname.lower))
    return name


def _people_apart(sentence: Sequence[Word], first: int, last: int) -> list[tuple[int, int]]:
    """Part a run of Russian capitals where people's names begin or end: «России Владимир Путин»."""
    human = [
        bool(word.traits & {"Name", "Surn", "Patr"}) and "Geox" not in word.traits for word in sentence[first:last]
    ]
    cuts = [first]
    for place in range(first + 1, last):
        now, then = human[place - first], human[place - first - 1]
        if now and not then and "Geox" in sentence[place - 1].traits:
            cuts.append(place)
    return [*zip(cuts, [*cuts[1:], last], strict=True)]


def _russian(sentence: Sequence[Word], first: int, last: int) -> Mention:
    phrase = sentence[first:last]
    traits = frozenset().union(*(word.traits for word in phrase))
    kind: EntityKind = "name"
    if traits & {"Surn", "Patr", "Name"} or (len(phrase[0].text) == 2 and phrase[0].text[1] == "."):
        kind = "person"
    elif "Geox" in traits:
        kind = "place"
    elif "Orgn" in traits or (len(phrase) == 1 and phrase[0].text.isupper() and len(phrase[0].text) > 1):
        kind = "organization"
    name = spanning(sentence, first, last, kind)
    if kind in {"person", "place"} and all(word.text.istitle() and russian.cyrillic(word.lower) for word in phrase):
        written = [russian.nominative(word.lower).title() for word in phrase]
        name = dataclasses.replace(name, name=" ".join(written))
        if kind == "person" and len(phrase) > 1:
            return dataclasses.replace(name, head=(key_of([phrase[-1]]), written[-1]))
    if kind == "person" and len(phrase) > 1 and len(phrase[-1].text) > 2:
        return dataclasses.replace(name, head=(key_of([phrase[-1]]), phrase[-1].text))
    return name


def quoted(sentence: Sequence[Word], place: int) -> int:
    """Return where a quote of at most five words that starts with a capital closes; 0 if it is not such a one."""
    for end in range(place + 2, min(place + 7, len(sentence))):
        if sentence[end].tag == '"':
            return end if sentence[place + 1].text[0].isupper() else 0
    return 0


def with_quoted(found: list[Mention], sentence: Sequence[Word], place: int, closing: int) -> list[Mention]:
    """Add a quoted name; right behind a Russian noun («тариф «Команда»») the two are one thing."""
    name = spanning(sentence, place + 1, closing, "name")
    before = found[-1] if found and found[-1].last == place else None
    if before is None or before.kind != "term" or not russian.cyrillic(before.key):
        return [*found, name]
    return [
        *found[:-1],
        Mention(
            key=f"{before.key} {name.key}"[:LONGEST_KEY].strip(),
            name=f"{before.name} «{name.name}»"[:LONGEST_KEY],
            kind="product", first=before.first, last=closing + 1, start=before.start, end=name.end,
            head=(before.key, before.name), inner=(name,),
        ),
    ]  # fmt: skip
