"""Stems and stop words, by the script of each word: code names in a Russian text are cut as in an English one."""

from __future__ import annotations

import functools
import importlib
import unicodedata
from collections.abc import Callable
from typing import Any

from streams.domain.stopwords import STOP_WORDS

_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish",
    "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "nb": "norwegian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
_CYRILLIC = frozenset({"be", "bg", "kk", "ky", "mk", "mn", "ru", "sr", "tg", "uk"})
_OTHER_SCRIPTS = _CYRILLIC | {"ar", "el", "fa", "he", "hi", "hy", "ja", "ka", "ko", "ne", "ta", "th", "zh"}
_TONAL = frozenset({"vi"})  # marks that make other words
_NO_ENDINGS = frozenset({"ja", "ko", "th", "vi", "zh"})  # cut into pairs of characters, or words that never change
_LONGEST_STEMMED = 48  # characters; longer ones are no words


def stem(word: str, language: str) -> str:
    """Return the stem of a lower-case word, without the accents of Latin letters and with ё as е."""
    return _stem(word, _language_of(word, language))


def stop_words(word: str, language: str) -> frozenset[str]:
    """Return the stop words that apply to a word: those of the text's language, or of the script it is written in."""
    return STOP_WORDS.get(_language_of(word, language), frozenset())


def languages() -> tuple[str, ...]:
    """Return the languages whose words are found in all their forms: by a stemmer, or since they need none."""
    return tuple(sorted({*_STEMMERS, *_NO_ENDINGS}))


def known(language: str) -> str:
    """Return the language if words are treated by it in any way of their own, else `und` (undetermined)."""
    return language if language in _STEMMERS or language in _OTHER_SCRIPTS or language in _TONAL else "und"


def _language_of(word: str, language: str) -> str:
    if word.isascii():
        return "en" if language in _OTHER_SCRIPTS else language
    if "\u0400" <= word[0] <= "\u04ff":
        return language if language in _CYRILLIC else "ru"
    return language


@functools.lru_cache(maxsize=100_000)
def _stem(word: str, language: str) -> str:
    if len(word) <= _LONGEST_STEMMED and not word.isdigit() and (stemmer := _stemmer(language)):
        # A stemmer keeps the word that it works on: one for each call, since tokens are cut in threads too.
        word = stemmer().stemWord(word)
    if word.isascii():
        return word
    return word.replace("ё", "е") if language in _TONAL else _without_accents(word).replace("ё", "е")


@functools.cache
def _stemmer(language: str) -> Callable[[], Any] | None:
    """Return the stemmer class in pure Python: PyStemmer, where it is installed, may be of another version.

    Two machines of one generation must cut alike.
    """
    name = _STEMMERS.get(language)
    if name is None:
        return None
    module = importlib.import_module(f"snowballstemmer.{name}_stemmer")
    stemmer: Callable[[], Any] = getattr(module, f"{name.title()}Stemmer")
    return stemmer


def _without_accents(word: str) -> str:
    """Drop the marks of Latin and Greek letters; elsewhere they make other letters (й) or vowels."""
    return "".join(unicodedata.normalize("NFD", c)[0] if c < "\u0400" or "\u1e00" <= c < "\u2000" else c for c in word)
