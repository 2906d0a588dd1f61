"""English words tagged by lists, endings and neighbours, and their lemmas: no trained model."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from streams.domain import english_words as lists
from streams.domain import name_words
from streams.domain.words import Tag, Word

_IRREGULAR = {
    "people": "person", "children": "child", "men": "man", "women": "woman", "feet": "foot", "data": "data",
    "indices": "index", "indexes": "index", "matrices": "matrix", "criteria": "criterion", "media": "media",
    "lives": "life", "keys": "key", "movies": "movie", "cookies": "cookie", "series": "series", "news": "news",
}  # fmt: skip
_VERBS = lists.VERBS | lists.NOUN_VERBS
# Behind these a word that may be a verb is a noun, or a participle an adjective.
_BEFORE_NOUN = frozenset({"d", "o", "a", "p", "'", "m", "$"})
_SAYS_NOUN = frozenset({"d", "o", "'", "m"})
_ENDS = frozenset({"v", "x", "p", ".", ",", ":", ")", "s", "c", "w", "-", "("})


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
def verb_form(word: str) -> str:
    """Return which form of a listed verb this is: "base", "s", "ed", "ing", or ""."""
    if word in _VERBS:
        return "base"
    if word in lists.PASTS:
        return "ed"
    for ending, name in (("ing", "ing"), ("ed", "ed"), ("s", "s")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            root = word[: -len(ending)]
            roots = [root, f"{root}e"] if ending != "s" else [root, root[:-1] if root.endswith("e") else root]
            if root.endswith("i"):
                roots.append(f"{root[:-1]}y")
            if ending == "s" and root.endswith("ie"):
                roots.append(f"{root[:-2]}y")
            if ending != "s" and len(root) > 2 and root[-1] == root[-2]:
                roots.append(root[:-1])
            if any(each in _VERBS for each in roots):
                return name
    return ""


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
    form = verb_form(word)
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


def tag(sentence: Sequence[Word], *, title: bool = False) -> None:
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
        capital_follows = following is not None and following.text[0].isupper() and after in {"n", "v?"} and (
            following.lower not in lists.TECH_ACRONYMS)
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
            word.tag = _verb_or_not(word, kind, before, after, following, first, open_question, verb_seen, sentence[:number])
        elif kind == "n" and number and sentence[number - 1].lower == "to" and word.text.islower() and (
            after in {"d", "r"} or (number > 1 and sentence[number - 2].tag in {",", "v"} and after == ".")
        ):
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


def _is_name(word: Word, kind: str, *, first: bool, title: bool, after: str, capital_follows: bool) -> bool:
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


def _verb_or_not(
    word: Word,
    kind: str,
    before: str,
    after: str,
    following: Word | None,
    first: bool,
    open_question: bool,
    verb_seen: bool,
    earlier: Sequence[Word],
) -> Tag:
    """Decide between verb, noun and adjective by the neighbours."""
    lower = word.lower
    previous = earlier[-1].lower if earlier else ""
    to_noun = after in {"n", "v?", "ing"} and not (following is not None and following.text[0].isupper())
    if kind == "ed":
        if before in _SAYS_NOUN and (to_noun or before != "d"):
            return "a" if to_noun else "v"
        if before in {"p", "."} and to_noun:
            return "a"
        return "v"
    if kind == "ing":
        if before in {"d", "a", "o", "'", "n"} and after in _ENDS | {"n"}:
            return "n"
        return "v" if not (before == "p" and to_noun and previous in {"of", "with"}) else "a"
    if previous == "to" or before in {"x", "r", "b"}:
        if kind == "v" or before == "r" or previous in lists.INVERTING or previous in {"not", "please", "also"}:
            return "v"
        if previous == "to":
            return "v" if after in {"d", "n", "o", "a", "m", "k", "$", "r", "v?", ".", "c"} or kind == "v" else "n"
        return "v" if before == "x" and previous not in lists.COPULAS and previous not in {"have", "has", "had"} else "n"
    if before in _SAYS_NOUN or (before == "a" and kind != "v"):
        return "n"
    if kind == "v":
        return "n" if before == "p" and after in _ENDS - {"d"} and not lower.endswith("ing") else "v"
    if before == "p":
        return "n"
    starts = first or before in {".", "c", "-", ":", ","}
    ends_in_s = lower.endswith("s") and lower not in lists.NOUN_VERBS
    if starts and not ends_in_s:
        if before == "c" and len(earlier) > 1 and earlier[-2].tag in {"n", "N", "k"} and not verb_seen and after in _ENDS:
            return "n"
        return "v" if after in {"d", "r", "o", "k", "m"} or (after == "p" and first) else "n"
    if starts:
        return "v" if after in {"d", "$", "m", "k", "r", "o"} or (after == "n" and first and following is not None) and (
            following.text[0].isupper()) else "n"
    if open_question and not ends_in_s:
        return "v" if after in {".", "p", "d", "r", "k", "m"} else "n"
    if before in {"n", "N", "k", ")", "w"} and not verb_seen:
        if ends_in_s:
            return "v" if after in {"d", "$", "m", "k", "o", "n", "a", "r", "b", "c", "p", "v?", "ing", "ed"} and not (
                after in {"c", "p"} and previous.endswith("s")) else "n"
        plural = previous.endswith("s") and not previous.endswith("ss")
        return "v" if before == "w" or (plural and after in {"d", "$", "m", "k", "o", "n", "r", "a", "p", "b", "."}) else "n"
    return "n"
