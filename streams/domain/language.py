"""Which language a text is in, as far as cutting it into tokens needs to know."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from streams.domain.spellings import LETTERS, SPELLINGS
from streams.domain.stopwords import STOP_WORDS

DEFAULT = "en"
_SAMPLE = 20_000  # characters; more of a document adds nothing

# Not those of addresses and code, and of single letters only vowels: other ones are names of things.
_WORDS = re.compile(r"(?<![\w./@=])(?:[^\W\d_]{2,}|(?<!['’&-])[aeiouy](?!['’&-]))(?![\w/@=]|\.\w)")
_ELISIONS = re.compile(r"(?<!\w)(?:[ldcs]|qu|[nj])['’](?=\w)")

# Ideographs count threefold: one is a word or half a word, where a Latin letter is a fifth of one.
_SCRIPTS = {
    "ru": (re.compile("[\u0400-\u04ff]"), 1),
    "ja": (re.compile("[\u3040-\u30ff]"), 3),
    "zh": (re.compile("[\u3400-\u4dbf\u4e00-\u9fff]"), 3),
    "ko": (re.compile("[\uac00-\ud7a3]"), 3),
    "th": (re.compile("[\u0e00-\u0e7f]"), 1),
    "el": (re.compile("[\u0370-\u03ff]"), 1),
    "ar": (re.compile("[\u0600-\u06ff]"), 1),
    "he": (re.compile("[\u0590-\u05ff]"), 1),
    "hi": (re.compile("[\u0900-\u097f]"), 1),
}
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_UKRAINIAN = re.compile("[іїєґІЇЄҐ]")
_SHARE = 0.2  # of the letters that a script needs: names and code in Latin letters do not hide a text's own language


def detect(text: str, given: str | None = None) -> str:
    """Return the ISO 639 code of a text's language: the `given` one, else by script, else by its words.

    Common words, marked letters and spellings vote between the Latin languages that have a stop word list; without a
    clear sign, as in names and codes, it is "en". Reads the first 20,000 characters.
    """
    if given:
        return given
    sample = text[:_SAMPLE]
    if sample.isascii():
        return _by_common_words(sample)
    letters = {code: weight * len(pattern.findall(sample)) for code, (pattern, weight) in _SCRIPTS.items()}
    letters["ja"] += letters["zh"] if letters["ja"] * 10 > letters["zh"] else 0  # Japanese mixes kana and ideographs
    code = max(letters, key=lambda script: letters[script])
    if letters[code] <= _SHARE * (letters[code] + len(_LATIN.findall(sample))):
        return _by_common_words(sample)
    if code == "ru" and len(_UKRAINIAN.findall(sample)) * 50 > letters["ru"]:
        return "uk"
    return code


def _by_common_words(sample: str) -> str:
    """Return the Latin language with the most votes: of common words, marked letters and spellings, each counted once.

    A word, letter or spelling of several languages is shared by them.
    """
    votes = dict.fromkeys(_LATIN_LANGUAGES, 0.0)
    votes[DEFAULT] = PRIOR
    lower = sample.lower()
    words = dict.fromkeys(_WORDS.findall(lower))
    for word in words:
        _vote(votes, _SPOKEN_IN.get(word, ()), 1.0)
    for letter in set(_MARKED.findall(lower)):
        _vote(votes, LETTERS[letter], LETTER_VOTE)
    for elision in {found[0] for found in _ELISIONS.findall(lower)}:
        _vote(votes, ("fr", "it") if elision in "ldcs" else ("fr",), 1.0)
    # A long text has said enough by its common words.
    for word in itertools.islice((word for word in words if word not in _SPOKEN_IN), _SPELT):
        for pattern, codes in SPELLINGS:
            if pattern.search(word):
                _vote(votes, codes, SPELLING_VOTE)
    return max(_LATIN_LANGUAGES, key=lambda code: (votes[code], code == DEFAULT))


def _vote(votes: dict[str, float], codes: Sequence[str], vote: float) -> None:
    for code in codes:
        votes[code] += vote / len(codes)


_LATIN_LANGUAGES = tuple(sorted(set(STOP_WORDS) - {"ru"}))
_SPOKEN_IN = {
    word: tuple(code for code in _LATIN_LANGUAGES if word in STOP_WORDS[code])
    for word in frozenset().union(*(STOP_WORDS[code] for code in _LATIN_LANGUAGES))
}
_MARKED = re.compile(f"[{''.join(LETTERS)}]")
LETTER_VOTE = 1.0
SPELLING_VOTE = 0.5
PRIOR = 0.5  # of English: names, codes and loan words are its language more often than not
_SPELT = 30  # words
