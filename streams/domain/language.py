"""Which language a text is in, as far as cutting it into tokens needs to know."""

from __future__ import annotations

import re
from collections import Counter

from streams.domain.stopwords import STOP_WORDS

DEFAULT = "en"
_SAMPLE = 20_000  # characters; more of a document adds nothing

_WORDS = re.compile(r"(?<!\w)[^\W\d_]{2,}(?!\w)")

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
    """Return the ISO 639 code of a text's language: the `given` one, else by script, else by its common words.

    Common words vote between the Latin languages that have a stop word list; a tie, as in a few words of a question, is
    "en". Reads the first 20,000 characters.
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
    words = Counter(_WORDS.findall(sample.lower()))
    votes = {
        code: sum(count for word, count in words.items() if word in stops)
        for code, stops in STOP_WORDS.items()
        if code != "ru"
    }
    best = max(votes, key=lambda code: votes[code])
    return best if votes[best] > votes[DEFAULT] else DEFAULT
