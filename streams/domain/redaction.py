"""Hides what looks like a secret in texts that are shown to people: names that say so, passwords in URLs, tokens."""

from __future__ import annotations

import re

HIDDEN = "(hidden)"
_MARGIN = 1_000  # characters; no secret that is recognised by its end is longer

# What stands before such a word is shown, so that no pattern begins with it; all other runs that may fail are bounded.
_WORDS = "password|passwd|secret|token|api[ _.-]?key|credential|authorization|cookie|private[ _.-]?key"
_SECRET_WORD = re.compile(_WORDS, re.IGNORECASE)
_NAME = re.compile(r"[\w. -]*")
_END = rf"(?:{_WORDS})[\w.-]{{0,60}}"
# The value of a JSON member, of name=value and of name: value; what is cut off before its end is hidden to the end.
_QUOTED = re.compile(rf'({_END}"\s{{0,20}}:\s{{0,20}})(?:"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[^\s,}}\]]+)', re.I | re.DOTALL)
_PLAIN = re.compile(rf"({_END}\s{{0,20}}[=:]\s{{0,20}})(?!\s|[\"{{\[])[^\s,;&\"']+", re.IGNORECASE)
# To the last @ before a blank: passwords have slashes and @ of their own. A port is none.
_IN_URL = re.compile(r"(://[^\s/:@\"']{0,100}:)(?!\d{1,5}[/?#])[^\s\"']{1,500}(?=@)")
_BEARER = re.compile(r"\b((?:bearer|basic)\s{1,20})[\w.~+/=-]{8,}", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Tell whether what goes by this name should not be shown."""
    return _NAME.fullmatch(name) is not None and _SECRET_WORD.search(name) is not None


def redacted(text: str) -> str:
    """Return the text without what looks like a secret; for people, never to be parsed."""
    text = _QUOTED.sub(rf'\1"{HIDDEN}"', text)
    text = _BEARER.sub(rf"\1{HIDDEN}", text)
    text = _PLAIN.sub(rf"\1{HIDDEN}", text)
    return _IN_URL.sub(rf"\1{HIDDEN}", text)


def shown(text: str, longest: int) -> str:
    """Return the beginning of a text without what looks like a secret, in work bounded by `longest`, in characters."""
    piece = text[: longest + _MARGIN]
    found = redacted(piece)
    if len(piece) < len(text):
        found = found[:-_MARGIN]  # a secret that the cut goes through is not recognised
    return found if len(text) <= longest else f"{found[:longest]}…"


def escaped(data: bytes) -> str:
    """Return bytes as text in which everything that cannot be shown, but line breaks and tabs, is escaped."""
    text = data.decode("utf-8", "backslashreplace")
    return "".join(
        each if each.isprintable() or each in "\n\t" else each.encode("unicode_escape").decode("ascii") for each in text
    )
