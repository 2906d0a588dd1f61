"""Mentions: noun phrases, names and code-like tokens of a sentence, each with the key that it shares with others."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas.graph import EntityKind
from streams.domain import english, english_words, name_words, names, russian, words
from streams.domain.words import Word

LONGEST_KEY = 100  # characters
_LONGEST_TERM = 4  # words, from the last one backwards
_LONGEST_NAME = 8
_PER = frozenset({"per", "a", "each", "/", "в", "за", "на"})
_UNITS = frozenset(
    "second minute hour day week month year user seat секунда минута час день неделя месяц год сутки пользователь".split()
)
_GOVERNING = frozenset("government administration police army ministry delegation legislature".split())
_PRODUCTS = frozenset("plan tier edition app platform cloud suite package add-on addon".split())


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


def tagged(text: str, language: str, *, title: bool = False) -> list[list[Word]]:
    """Return the sentences of a text, their words tagged by the rules of the language."""
    found = words.sentences(words.cut(text))
    for sentence in found:
        if language == "ru":
            russian.tag(sentence, title=title)
        elif language == "en":
            english.tag(sentence, title=title)
        else:
            _capitals(sentence)
    if language == "en" and not title:
        english.name_starts(found)
    return found


def composed(text: str) -> str:
    """Return a text with its letters in one form, so that keys of a text and of a question meet."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def of_sentence(sentence: Sequence[Word], language: str) -> list[Mention]:
    """Return the mentions of a tagged sentence in order, none overlapping; names inside a phrase are its `inner`."""
    found: list[Mention] = []
    place = 0
    while place < len(sentence):
        tag = sentence[place].tag
        if tag == "k":
            found.append(_whole(sentence, place, place + 1, "code"))
            place += 1
        elif tag == "$":
            end = _end_of_rate(sentence, place + 1)
            found.append(_whole(sentence, place, end, "term"))
            place = end
        elif tag == "m" and _counts(sentence, place):
            end = _end_of_rate(sentence, place + 2)
            found.append(_whole(sentence, place, end, "term"))
            place = end
        elif tag == '"' and (closing := _quoted(sentence, place)):
            found = _with_quoted(found, sentence, place, closing)
            place = closing + 1
        elif tag in {"n", "a", "N"}:
            end = _end_of_run(sentence, place, language)
            found += _phrases(sentence, place, end, language)
            place = end
        else:
            place += 1
    return [mention for mention in found if mention.key]


def key_of(phrase: Sequence[Word]) -> str:
    """Return the key of a phrase: lemmas, without marks, titles and dots at the end."""
    parts = [_lemma(word).strip(".'’\"\0") for word in phrase if word.tag not in {",", '"', "("}]
    return " ".join(part for part in parts if part)[:LONGEST_KEY].strip()


def _lemma(word: Word) -> str:
    if word.tag in {"k", "m", "$"}:
        return " ".join(word.lower.removesuffix("()").replace("\0", "").split())
    if word.tag in {"n", "N"} and russian.cyrillic(word.lower) and word.traits:
        return russian.form(word.lower, True).lemma
    return (word.lemma or word.lower).replace("ё", "е")


def whole_of(text: str, language: str) -> Mention | None:
    """Return all of a short text as one mention, whatever its words are; None if it has no word."""
    for sentence in tagged(text, language, title=True):
        phrase = [word for word in sentence if word.tag not in {",", '"', "(", ")", ":", "-", "'"}][:_LONGEST_NAME]
        if phrase and (key := key_of(phrase)):
            start, end = phrase[0].start, phrase[-1].end
            return Mention(key=key, name=_written(phrase), kind="term", first=0, last=len(sentence), start=start, end=end)
    return None


def _counts(sentence: Sequence[Word], place: int) -> bool:
    number = sentence[place].text
    following = sentence[place + 1] if place + 1 < len(sentence) else None
    if following is None or not number[0].isdigit():
        return False
    return following.tag == "n" or (following.tag == "N" and following.text.isupper() and len(following.text) < 4)


def _end_of_rate(sentence: Sequence[Word], place: int) -> int:
    """Return where an amount ends that may go on with "per month"."""
    if place + 1 < len(sentence) and sentence[place].lower in _PER and sentence[place + 1].tag == "n":
        if sentence[place].lower in {"per", "/"} or sentence[place + 1].lemma in _UNITS:
            return place + 2
    return place


def _whole(sentence: Sequence[Word], first: int, last: int, kind: EntityKind) -> Mention:
    phrase = sentence[first:last]
    return Mention(
        key=key_of(phrase), name=_written(phrase), kind=kind, first=first, last=last,
        start=phrase[0].start, end=phrase[-1].end,
    )  # fmt: skip


def _written(phrase: Sequence[Word]) -> str:
    """Return a phrase as it is written, one blank wherever the text has any."""
    text = ""
    for number, word in enumerate(phrase):
        text += (" " if number and word.start > phrase[number - 1].end else "") + word.text
    return " ".join(text.split()).replace("\0", "")[:LONGEST_KEY]


def _end_of_run(sentence: Sequence[Word], place: int, language: str) -> int:
    """Return where a run of nouns, adjectives and names ends, small words inside of names included."""
    end = place
    while end < len(sentence):
        if sentence[end].tag in {"n", "a", "N"}:
            end += 1
            continue
        start = end
        while start > place and sentence[start - 1].tag == "N":
            start -= 1
        reach = end + 1
        small = [word.lower for word in sentence[end : end + 2]]
        if small == ["of", "the"] or (len(small) == 2 and set(small) <= name_words.PARTICLES):
            reach += 1  # Committee of the Red Cross, van der
        following = _names_from(sentence, reach)
        if language == "en" and start < end and names.joins(sentence[start:end], sentence[end], following):
            end = reach
            continue
        break
    return end


def _names_from(sentence: Sequence[Word], place: int) -> Sequence[Word]:
    end = place
    while end < len(sentence) and sentence[end].tag == "N":
        end += 1
    return sentence[place:end]


def _phrases(sentence: Sequence[Word], first: int, last: int, language: str) -> Iterator[Mention]:
    """Yield the mentions in a run: common words before a name are a phrase of their own, those behind it join it."""
    while last > first and sentence[last - 1].tag == "a":
        last -= 1
    place = first
    while place < last:
        start = place
        if sentence[place].tag == "N":
            while place < last and sentence[place].tag not in {"n", "a"}:
                place += 1
            yield from _named(sentence, start, place, last, language)
            while place < last and sentence[place].tag != "N":
                place += 1
            continue
        while place < last and sentence[place].tag != "N":
            place += 1
        yield from _common(sentence, start, place, language)


def _common(sentence: Sequence[Word], first: int, last: int, language: str) -> Iterator[Mention]:
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
        _whole(sentence, place, place + 1, "term")
        for place in range(first, last - 1)
        if len(sentence[place].text) > 1 and sentence[place].text.isupper()
    )
    yield dataclasses.replace(_headed(sentence, first, last, "term", head), inner=acronyms)


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
        if russian.names_nothing(_lemma(head)) or len(head.text) < 2:
            continue
        whole = _nominative(_headed(sentence, max(start, end - _LONGEST_TERM), end, "term", head), sentence)
        if number < len(pieces) and "gent" in sentence[pieces[number][1] - 1].traits:
            start, far = pieces[number]
            owner = _nominative(_headed(sentence, start, far, "term", sentence[far - 1]), sentence)
            number += 1
            yield Mention(
                key=f"{whole.key} {owner.key}"[:LONGEST_KEY].strip(),
                name=f"{whole.name} {_written(sentence[start:far])}"[:LONGEST_KEY],
                kind="term", first=whole.first, last=far, start=whole.start, end=sentence[far - 1].end,
                head=(whole.key, whole.name), inner=(owner,),
            )  # fmt: skip
        else:
            yield whole


def _headed(sentence: Sequence[Word], first: int, last: int, kind: EntityKind, head: Word) -> Mention:
    whole = _whole(sentence, first, last, kind)
    if last - first < 2:
        return whole
    return dataclasses.replace(whole, head=(key_of([head]), head.text))


def _nominative(mention: Mention, sentence: Sequence[Word]) -> Mention:
    """Name a Russian phrase as a dictionary would, where all of its words stand in one line of case."""
    phrase = sentence[mention.first : mention.last]
    if not all(russian.cyrillic(word.lower) and word.text.islower() for word in phrase):
        return mention
    name = " ".join(russian.nominative(word.lower) for word in phrase)
    head = (mention.head[0], russian.nominative(phrase[-1].lower)) if mention.head else None
    return dataclasses.replace(mention, name=name, head=head)


def _named(sentence: Sequence[Word], first: int, last: int, run_end: int, language: str) -> Iterator[Mention]:
    """Yield a name; with common nouns behind it ("Team plan") the whole phrase, the name inside of it."""
    if language == "ru":
        *before, (first, last) = _people_apart(sentence, first, last)
        for start, end in before:
            yield _russian_name(sentence, start, end)
        name = _russian_name(sentence, first, last)
    else:
        pieces = names.parts(sentence[first:last])
        if not pieces:
            yield from _common(sentence, first, run_end if _all_common(sentence, last, run_end) else last, language)
            return
        for start, stop in pieces[:-1]:
            yield _english_name(sentence, first + start, first + stop)
        name = _english_name(sentence, first + pieces[-1][0], first + pieces[-1][1])
    end = last
    while end < run_end and sentence[end].tag != "N":
        end += 1
    while end > last and sentence[end - 1].tag == "a":
        end -= 1
    cyrillic_noun = language == "ru" and end > last and "gent" in sentence[last].traits and sentence[last].tag == "n"
    if cyrillic_noun and name.last - name.first == 1 and name.kind in {"name", "organization"}:
        far = last + 1
        yield dataclasses.replace(
            _headed(sentence, name.first, far, "organization" if russian.is_office(name.key) else "name", sentence[first]),
            inner=(_whole(sentence, last, far, "term"),),
        )
        if far < run_end:
            yield from _common(sentence, far, run_end, language)
        return
    if end == last or cyrillic_noun or sentence[end - 1].lemma in english_words.EMPTY_NOUNS:
        yield name
        if end > last:
            yield from _common(sentence, last, end, language)
        return
    head = sentence[end - 1]
    kind: EntityKind = "term"
    if head.lower in _GOVERNING:
        kind = "organization"
    elif head.lemma in _PRODUCTS:
        kind = "product"
    whole = _headed(sentence, max(name.first, end - _LONGEST_NAME), end, kind, head)
    yield dataclasses.replace(whole, inner=(name,))


def _english_name(sentence: Sequence[Word], first: int, last: int) -> Mention:
    first = max(first, last - _LONGEST_NAME)
    bare = first + names.bare(sentence[first:last])
    kind = names.kind(sentence[bare:last], sentence[max(0, bare - 2) : bare], sentence[last : last + 2])
    name = dataclasses.replace(_whole(sentence, first, last, kind), key=key_of(sentence[bare:last]))
    surname = sentence[last - 1]
    if kind == "person" and last - bare > 1 and len(surname.text) > 2:
        return dataclasses.replace(name, head=(key_of([surname]), surname.text))
    if kind in {"organization", "place"} and last - bare > 1 and "of" not in {w.lower for w in sentence[bare:last]}:
        ends = surname.lower
        if ends in name_words.ORGANIZATIONS or ends in name_words.PLACE_ENDS:
            return dataclasses.replace(name, head=(key_of([surname]), surname.lower))
    return name


def _all_common(sentence: Sequence[Word], first: int, last: int) -> bool:
    return all(word.tag != "N" for word in sentence[first:last])


def _people_apart(sentence: Sequence[Word], first: int, last: int) -> list[tuple[int, int]]:
    """Part a run of Russian capitals where people's names begin or end: «России Владимир Путин»."""
    human = [bool(word.traits & {"Name", "Surn", "Patr"}) and "Geox" not in word.traits for word in sentence[first:last]]
    cuts = [first]
    for place in range(first + 1, last):
        now, then = human[place - first], human[place - first - 1]
        if now and not then and "Geox" in sentence[place - 1].traits:
            cuts.append(place)
    return [*zip(cuts, [*cuts[1:], last], strict=True)]


def _russian_name(sentence: Sequence[Word], first: int, last: int) -> Mention:
    phrase = sentence[first:last]
    traits = frozenset().union(*(word.traits for word in phrase))
    kind: EntityKind = "name"
    if traits & {"Surn", "Patr", "Name"} or (len(phrase[0].text) == 2 and phrase[0].text[1] == "."):
        kind = "person"
    elif "Geox" in traits:
        kind = "place"
    elif "Orgn" in traits or (len(phrase) == 1 and phrase[0].text.isupper() and len(phrase[0].text) > 1):
        kind = "organization"
    name = _whole(sentence, first, last, kind)
    if kind in {"person", "place"} and all(word.text.istitle() and russian.cyrillic(word.lower) for word in phrase):
        written = [russian.nominative(word.lower).title() for word in phrase]
        name = dataclasses.replace(name, name=" ".join(written))
        if kind == "person" and len(phrase) > 1:
            return dataclasses.replace(name, head=(key_of([phrase[-1]]), written[-1]))
    if kind == "person" and len(phrase) > 1 and len(phrase[-1].text) > 2:
        return dataclasses.replace(name, head=(key_of([phrase[-1]]), phrase[-1].text))
    return name


def _quoted(sentence: Sequence[Word], place: int) -> int:
    """Return where a quote of at most five words that starts with a capital closes; 0 if it is not such a one."""
    for end in range(place + 2, min(place + 7, len(sentence))):
        if sentence[end].tag == '"':
            return end if sentence[place + 1].text[0].isupper() else 0
    return 0


def _with_quoted(found: list[Mention], sentence: Sequence[Word], place: int, closing: int) -> list[Mention]:
    """Add a quoted name; right behind a Russian noun («тариф «Команда»») the two are one thing."""
    name = _whole(sentence, place + 1, closing, "name")
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


def _capitals(sentence: Sequence[Word]) -> None:
    """Tag words of a language without rules: capitals inside of a sentence are names, the rest is nothing."""
    for number, word in enumerate(sentence):
        word.lemma = word.lower
        if word.tag == "n":
            inside = number > 0 and sentence[number - 1].tag not in {".", ":", '"', "-"}
            acronym = len(word.text) > 1 and word.text.isupper()
            word.tag = "N" if word.text[0].isupper() and (inside or acronym) else "b"
