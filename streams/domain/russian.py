"""Russian words tagged and lemmatised by the OpenCorpora dictionary (pymorphy3), which needs no trained model.

Korobov, Morphological Analyzer and Generator for Russian and Ukrainian Languages, 2015. The dictionary takes about
30 MB, once a Russian word is met.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from streams.domain import english
from streams.domain.lexicon import listed
from streams.domain.words import Tag, Word

_PARTS: dict[str, Tag] = {
    "NOUN": "n", "ADJF": "a", "PRTF": "a", "VERB": "v", "INFN": "v", "PRTS": "v", "GRND": "v", "PREP": "p",
    "CONJ": "c", "NPRO": "r", "ADVB": "b", "PRCL": "b", "COMP": "b", "PRED": "x", "NUMR": "m", "INTJ": "b", "ADJS": "v",
}  # fmt: skip
_TELLING = ("nomn", "gent", "datv", "accs", "ablt", "loct", "Name", "Surn", "Patr", "Geox", "Orgn", "plur", "femn")
_OPEN = listed(
    "весь каждый любой другой такой самый новый старый хороший лучший который какой этот тот мой твой свой наш ваш "
    "некоторый первый второй третий последний следующий прошлый текущий нужный доступный возможный большой маленький "
    "остальной различный разный многий один"
)
_EMPTY = listed("случай вид число количество часть пример раз образ время момент день год способ помощь это")
_DETERMINERS = listed("этот тот весь каждый любой мой твой свой наш ваш какой некоторый один")
_SUBORDINATORS = listed("если когда чтобы потому хотя пока поэтому но что так как где куда почему зачем затем")
_COORDINATING = listed("и или либо а также да")
_FIXED: dict[str, Tag] = {
    "это": "x", "есть": "x", "не": "b", "можно": "x", "нужно": "x", "нельзя": "x", "может": "x", "могут": "x",
    "был": "x",    "была": "x", "было": "x", "были": "x", "будет": "x", "будут": "x", "является": "x", "являются": "x",
    "который": "w", "которая": "w", "которое": "w", "которые": "w", "которого": "w", "которой": "w", "которых": "w",
    "кто": "w", "сколько": "w", "без": "p", "для": "p", "при": "p", "через": "p", "после": "p", "чем": "w", "нет": "x",
    "он": "r", "она": "r", "оно": "r", "они": "r", "все": "d", "их": "d", "его": "d", "её": "d", "ее": "d",
}  # fmt: skip
_OFFICES = listed(
    "министерство банк университет институт компания академия комитет совет суд агентство служба департамент фонд "
    "завод театр музей школа центр союз партия парламент правительство"
)
BACKWARD = frozenset({"он", "она", "оно", "они"})


class Form(NamedTuple):
    """What the dictionary says of a word form."""

    tag: Tag
    lemma: str
    traits: frozenset[str]


def cyrillic(word: str) -> bool:
    """Tell whether a word is written in Cyrillic letters."""
    return "\u0400" <= word[:1] <= "\u04ff"


@functools.lru_cache(maxsize=50_000)
def form(word: str, noun: bool = False) -> Form:
    """Return the likeliest reading of a lower-case word, of a `noun` if it has such a one."""
    parses = _analyzer().parse(word)[:8]
    best = parses[0]
    if noun:
        best = next((each for each in parses if each.tag.POS == "NOUN"), best)
    part = best.tag.POS or "NOUN"
    traits = frozenset(name for name in _TELLING if name in best.tag)
    if part == "NOUN":
        # Inanimate nouns look alike as subject and object: both are kept.
        cases = {
            str(each.tag.case) for each in parses if each.tag.POS == "NOUN" and each.normal_form == best.normal_form
        }
        traits |= cases
    return Form(_PARTS.get(part, "n"), str(best.normal_form).replace("ё", "е"), traits)


@functools.lru_cache(maxsize=20_000)
def nominative(word: str, noun: str = "") -> str:
    """Return a word in the nominative of its number; an adjective in the gender of its `noun`. As it is if unknown."""
    parses = _analyzer().parse(word)
    best = parses[0]
    if noun:
        head = _analyzer().parse(noun)[0].tag
        best = next((each for each in parses if each.tag.number == head.number and each.tag.case == head.case), best)
        wanted = {"nomn", head.number if head.number == "plur" else head.gender or "masc"}
    else:
        best = next((each for each in parses if each.tag.POS == "NOUN"), best)
        wanted = {"nomn"} | ({best.tag.number} if best.tag.number else set())
    found = best.inflect(wanted) if best.tag.POS in {"NOUN", "ADJF", "PRTF"} else None
    return str(found.word) if found else word


@functools.cache
def _analyzer() -> Any:
    import pymorphy3  # noqa: PLC0415 only where Russian is read: its dictionary takes memory

    return pymorphy3.MorphAnalyzer(lang="ru")


def tag(sentence: Sequence[Word], *, title: bool = False) -> None:
    """Set tags, lemmas and traits of the words of a sentence; in a `title` capitals say nothing."""
    shouted = sum(len(word.text) > 1 and word.text.isupper() for word in sentence) * 2 > len(sentence) > 3
    first = True
    for number, word in enumerate(sentence):
        word.lemma = word.lower
        if word.tag != "n":
            continue
        starts, first = first, False
        if not cyrillic(word.lower):
            word.lemma = english.lemma(word.lower)
            # Latin letters in a Russian text are names of products, firms and people.
            word.tag = "N" if word.text[0].isupper() and not title and not _acronym(word) else "n"
            continue
        before = sentence[number - 1].tag if number else "."
        _tag(word, before)
        if word.text[0].isupper() and word.tag in {"n", "a"} and not title and not shouted:
            quoted = before == '"'
            known = word.traits & {"Name", "Surn", "Patr", "Geox"}
            if not starts or known or quoted:
                word.tag = "N"


def _tag(word: Word, before: str) -> None:
    lower = word.lower
    found = form(lower)
    word.lemma, word.traits, word.tag = found.lemma, found.traits, found.tag
    if lower in _FIXED:
        word.tag = _FIXED[lower]
    elif found.lemma in _DETERMINERS and found.tag in {"a", "r"}:
        word.tag = "d"
    elif lower in _COORDINATING:
        word.tag = "c"
    elif lower in _SUBORDINATORS:
        word.tag = "s"
    elif found.tag == "a" and found.lemma in _OPEN:
        word.tag = "o"
    elif found.tag == "c":
        word.tag = "s"
    elif found.tag in {"v", "b"} and before in {"p", "a"} and form(lower, True).tag == "n":
        noun = form(lower, True)
        word.lemma, word.traits, word.tag = noun.lemma, noun.traits, noun.tag


def names_nothing(lemma: str) -> bool:
    """Tell whether a noun says nothing by itself."""
    return lemma in _EMPTY


def is_office(lemma: str) -> bool:
    """Tell whether a noun is what firms and offices are called."""
    return lemma in _OFFICES


def _acronym(word: Word) -> bool:
    return len(word.text) > 1 and word.text.isupper()
