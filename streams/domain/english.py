"""English words tagged by lists, endings and neighbours, and their lemmas: no trained model."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from streams.domain import english_verbs, name_words
from streams.domain import english_words as lists
from streams.domain.words import Tag, Word

_IRREGULAR = {
    "people": "person", "children": "child", "men": "man", "women": "woman", "feet": "foot", "data": "data",
    "indices": "index", "indexes": "index", "matrices": "matrix", "criteria": "criterion", "media": "media",
    "lives": "life", "keys": "key", "movies": "movie", "cookies": "cookie", "series": "series", "news": "news",
}  # fmt: skip


@functools.lru_cache(maxsize=50_000)
def lemma(word: str) -> str:
    """Return the singular of a lower-case noun; other words as they are. A lemma is its own lemma."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is", "ics", "'s")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    single = word[:-1]
    return word if single.endswith("s") else single


@functools.lru_cache(maxsize=50_000)
def _class(word: str) -> str:  # noqa: PLR0911, PLR0912 a word belongs to the first class that fits
    """Return the class of a lower-case word by itself: a tag, or "v?" and "ed", "ing" that the neighbours decide."""
    if word in lists.DETERMINERS:
        return "d"
    if word in lists.AUXILIARIES:
        return "x"
    if word in lists.PREPOSITIONS:
        return "p"
    if word in lists.PRONOUNS:
        return "r"
    if word in lists.CONJUNCTIONS:
        return "c"
    if word in lists.WH:
        return "w"
    if word in lists.SUBORDINATORS:
        return "s"
    if word in lists.ADVERBS:
        return "b"
    if word in lists.NUMBERS:
        return "m"
    if word in lists.OPEN_ADJECTIVES:
        return "o"
    if word in lists.ADJECTIVES or word in name_words.NATIONALITIES:
        return "a"
    if word in lists.VERBS:
        return "v"
    form = english_verbs.form(word)
    if form in ("base", "s"):
        root = word if form == "base" else lemma(word)
        return "v?" if root in lists.NOUN_VERBS else "v"
    if word in lists.PASTS:
        return "ed"
    if word.endswith("ing") and len(word) > 5 and word not in lists.NOUNS_IN_ING:
        return "ing" if form else "n"
    if word.endswith("ed") and len(word) > 4 and word not in lists.NOUNS_IN_ED:
        return "ed"
    if word.endswith("ly") and len(word) > 4 and word not in lists.NOUNS_IN_LY:
        return "b"
    if word.endswith(("able", "ible", "ful", "less", "ous")) and len(word) > 5 and word != "table":
        return "a"
    return "n"


def tag(sentence: Sequence[Word], *, title: bool = False) -> None:  # noqa: PLR0912 one branch for each class of words
    """Set tags and lemmas of the words of a sentence; in a `title` capitals say nothing."""
    shouted = sum(len(word.text) > 1 and word.text.isupper() for word in sentence) * 2 > len(sentence) > 3
    kinds = [_class(word.lower) if word.tag == "n" else word.tag for word in sentence]
    inverted = verb_seen = False
    first = True
    for number, word in enumerate(sentence):
        if word.tag != "n":
            word.lemma = word.lower
            if word.tag in {",", ":", "-"}:
                inverted = verb_seen = inverted and word.tag == ","
            continue
        word.lemma = lemma(word.lower)
        kind = kinds[number]
        before = sentence[number - 1].tag if number else "."
        after = kinds[number + 1] if number + 1 < len(sentence) else "."
        following = sentence[number + 1] if number + 1 < len(sentence) else None
        capital_follows = (
            following is not None
            and following.text[0].isupper()
            and after in {"n", "v?"}
            and (following.lower not in lists.TECH_ACRONYMS)
        )
        if _is_name(word, kind, first=first, title=title or shouted, after=after, capital_follows=capital_follows):
            word.tag = "N"
        elif kind == "w" and first and after in {"n", "v?", "o", "a"} and word.lower in {"which", "what", "whose"}:
            word.tag = "d"
        elif kind == "d" and word.lower == "that" and before in {"n", "N", "k"} and after != "n":
            word.tag = "w"
        elif kind == "d" and after in {"v", "x", "p", "."}:
            word.tag = "w" if word.lower == "that" and before in {"n", "N", "k"} else "r"
        elif kind in {"v", "v?", "ed", "ing"}:
            open_question = inverted and not verb_seen
            word.tag = english_verbs.part(
                word, kind, before=before, after=after, following=following, first=first,
                open_question=open_question, verb_seen=verb_seen, earlier=sentence[:number],
            )  # fmt: skip
        elif (
            kind == "n"
            and number
            and sentence[number - 1].lower == "to"
            and word.text.islower()
            and (after in {"d", "r"} or (number > 1 and sentence[number - 2].tag in {",", "v"} and after == "."))
        ) or (kind == "n" and before == "r" and sentence[number - 1].lower in lists.SUBJECTS and word.text.islower()):
            word.tag = "v"
        else:
            word.tag = _plain(kind)
        if word.tag == "x":
            inverted = inverted or word.lower in lists.INVERTING
            verb_seen = verb_seen or word.lower not in lists.INVERTING
        elif word.tag == "v":
            verb_seen = True
        elif word.tag in {"s", "w"}:
            verb_seen = False
        first = False


def name_starts(sentences: Sequence[Sequence[Word]]) -> None:
    """Make the first word of a sentence a name where the text, a list or the next word says that it is one."""
    named = {word.lower for sentence in sentences for word in sentence[1:] if word.tag == "N"}
    for sentence in sentences:
        word = next((each for each in sentence if each.tag not in {'"', "(", "-"}), None)
        if word is None or word.tag != "n" or not word.text[0].isupper() or word.text.isupper():
            continue
        place = sentence.index(word)
        after = [each.lower for each in sentence[place + 1 : place + 3]]
        known = word.lower in name_words.GIVEN or word.lower in name_words.PLACES or word.lower in named
        said = after[:1] and after[0] in lists.SPEECH
        aged = len(after) > 1 and after[0] == "," and (after[1].isdigit() or after[1] == "who")
        if known or said or aged or after == ["was", "born"]:
            word.tag = "N"


def _plain(kind: str) -> Tag:
    return kind if kind in {"d", "x", "p", "r", "c", "w", "s", "b", "m", "o", "a"} else "n"  # type: ignore[return-value]


def _is_name(  # noqa: PLR0911 the first rule that fits decides
    word: Word, kind: str, *, first: bool, title: bool, after: str, capital_follows: bool
) -> bool:
    text = word.text
    if not text[0].isupper() or word.lower in lists.MONTHS:
        return False
    if text[-1] == "." and len(text) > 1:
        return word.lower not in {"no.", "etc.", "vs."}
    if word.lower in lists.TECH_ACRONYMS or lemma(word.lower) in lists.TECH_ACRONYMS:
        return False
    if title or word.lower in name_words.NATIONALITIES:
        return False
    if kind in {"d", "x", "p", "r", "c", "w", "s"}:
        return len(text) > 1 and text.isupper() and not first and kind not in {"d", "c", "p", "x"}
    humps = any(letter.isupper() for letter in text[1:])
    if first and not humps:
        # A capital at the start says nothing; one right behind it does, unless this is a word of another part.
        return kind == "n" and (after == "'" or capital_follows)
    return kind not in {"b"} or humps
