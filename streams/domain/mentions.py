"""The mentions of a sentence: noun phrases, names and code-like tokens."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from streams.domain import english, name_words, names, noun_phrases, proper_names, russian, words
from streams.domain.mention import LONGEST_NAME, Mention, key_of, spanning, written
from streams.domain.words import Word


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
            found.append(spanning(sentence, place, place + 1, "code"))
            place += 1
        elif tag == "$":
            end = noun_phrases.end_of_rate(sentence, place + 1)
            found.append(spanning(sentence, place, end, "term"))
            place = end
        elif tag == "m" and noun_phrases.counts(sentence, place):
            end = noun_phrases.end_of_rate(sentence, place + 2)
            found.append(spanning(sentence, place, end, "term"))
            place = end
        elif tag == '"' and (closing := proper_names.quoted(sentence, place)):
            found = proper_names.with_quoted(found, sentence, place, closing)
            place = closing + 1
        elif tag in {"n", "a", "N"}:
            end = _end_of_run(sentence, place, language)
            found += _phrases(sentence, place, end, language)
            place = end
        else:
            place += 1
    return [mention for mention in found if mention.key]


def whole_of(text: str, language: str) -> Mention | None:
    """Return all of a short text as one mention, whatever its words are; None if it has no word."""
    for sentence in tagged(text, language, title=True):
        phrase = [word for word in sentence if word.tag not in {",", '"', "(", ")", ":", "-", "'"}][:LONGEST_NAME]
        if phrase and (key := key_of(phrase)):
            start, end = phrase[0].start, phrase[-1].end
            return Mention(
                key=key, name=written(phrase), kind="term", first=0, last=len(sentence), start=start, end=end
            )
    return None


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
        if start == end or language != "en":
            break
        reach = end + 1
        small = [word.lower for word in sentence[end : end + 2]]
        if small == ["of", "the"] or (len(small) == 2 and set(small) <= name_words.PARTICLES):
            reach += 1  # Committee of the Red Cross, van der
        following = _names_from(sentence, reach)
        if names.joins(sentence[start:end], sentence[end], following):
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
            yield from proper_names.named(sentence, start, place, last, language)
            while place < last and sentence[place].tag != "N":
                place += 1
            continue
        while place < last and sentence[place].tag != "N":
            place += 1
        yield from noun_phrases.common(sentence, start, place, language)


def _capitals(sentence: Sequence[Word]) -> None:
    """Tag words of a language without rules: capitals inside of a sentence are names, the rest is nothing."""
    for number, word in enumerate(sentence):
        word.lemma = word.lower
        if word.tag == "n":
            inside = number > 0 and sentence[number - 1].tag not in {".", ":", '"', "-"}
            acronym = len(word.text) > 1 and word.text.isupper()
            word.tag = "N" if word.text[0].isupper() and (inside or acronym) else "b"
