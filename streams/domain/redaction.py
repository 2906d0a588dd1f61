"""Hides what looks like a secret in texts that are shown to people: names that say so, passwords in URLs, tokens."""

from __future__ import annotations

import re

HIDDEN = "(hidden)"

_WORDS = "password|passwd|secret|token|api[_.-]?key|credential|authorization|cookie|private[_.-]?key"
_NAME = rf"[\w.-]*(?:{_WORDS})[\w.-]*"
_SECRET_NAME = re.compile(rf"^{_NAME}$", re.IGNORECASE)
# The value of a JSON member, of name=value and of name: value; what is cut off before its end is hidden to the end.
_QUOTED = re.compile(rf'("{_NAME}"\s*:\s*)(?:"(?:[^"\\]|\\.)*(?:"|\Z)|[^\s,}}\]]+)', re.IGNORECASE)
_PLAIN = re.compile(rf"\b({_NAME}\s*[=:]\s*)(?!\s*[\"{{\[])[^\s,;&\"']+", re.IGNORECASE)
_IN_URL = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^\s/:@\"']*:)[^\s/@\"']+(?=@)", re.IGNORECASE)
_BEARER = re.compile(r"\b((?:bearer|basic)\s+)[\w.~+/=-]{8,}", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Tell whether what goes by this name should not be shown."""
    return _SECRET_NAME.match(name) is not None


def redacted(text: str) -> str:
    """Return the text without what looks like a secret; for people, never to be parsed."""
    text = _QUOTED.sub(rf'\1"{HIDDEN}"', text)
    text = _BEARER.sub(rf"\1{HIDDEN}", text)
    text = _PLAIN.sub(rf"\1{HIDDEN}", text)
    return _IN_URL.sub(rf"\1{HIDDEN}", text)


def escaped(data: bytes) -> str:
    """Return bytes as text in which everything that cannot be shown, but line breaks and tabs, is escaped."""
    text = data.decode("utf-8", "backslashreplace")
    return "".join(
        each if each.isprintable() or each in "\n\t" else each.encode("unicode_escape").decode("ascii") for each in text
    )
