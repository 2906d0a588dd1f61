"""In which scripts languages are written, and which of them a model of some languages reads."""

from __future__ import annotations

import re
from collections.abc import Sequence

# By ISO 639-1 code; every other language is written in Latin letters, as far as it is known here.
_WITH: dict[str, str] = {
    "Arabic": "ar fa ps sd ug ur",
    "Armenian": "hy",
    "Bengali": "as bn",
    "Burmese": "my",
    "Chinese": "zh",
    "Cyrillic": "be bg kk ky mk mn ru sr tg tt uk",
    "Devanagari": "hi mr ne sa",
    "Ethiopic": "am ti",
    "Georgian": "ka",
    "Greek": "el",
    "Gujarati": "gu",
    "Gurmukhi": "pa",
    "Hangul": "ko",
    "Hebrew": "he yi",
    "Japanese": "ja",
    "Kannada": "kn",
    "Khmer": "km",
    "Lao": "lo",
    "Malayalam": "ml",
    "Odia": "or",
    "Sinhala": "si",
    "Tamil": "ta",
    "Telugu": "te",
    "Thai": "th",
    "Tibetan": "bo",
}
_OF = {language: script for script, languages in _WITH.items() for language in languages.split()}
_CODE = re.compile(r"[a-z]{2,3}")


def script(language: str) -> str:
    """Return the name of the script of a language."""
    return _OF.get(language, "Latin")


def reads(languages: Sequence[str], language: str) -> bool:
    """Tell whether a model that was made for `languages` reads a text in `language`: one in a script of theirs.

    A script is what counts, not a language: a short question's own is often not told from its neighbours', and words of
    a related one carry over. What is no code ("100 languages") says nothing, and then it reads all; so it does of an
    unknown (`und`) language.
    """
    codes = [each.partition("-")[0] for each in languages]
    if not codes or not all(_CODE.fullmatch(code) for code in codes) or language == "und":
        return True
    return script(language.partition("-")[0]) in {script(code) for code in codes}
