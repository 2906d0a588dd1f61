"""Text to tokens: one way of cutting for documents and questions, shared by every lexical leg.

A name is found as it is written and by the words in it. `retryBudgetMaxAttempts` gives the whole name and, at the
positions of its words, `retri`, `budget`, `max`, `attempt`. Joints that people write in several ways (`-`, `_`,
camel case) are left out of the whole, so `VPN-200` is `vpn200`; joints that carry meaning stay: `2.14.0`,
`mara@birch.example`, `C++`, `--force`. Scripts that are written without blanks are cut into pairs of characters.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from streams.domain.stems import stem, stop_words

LONGEST = 128  # characters of a term; what follows is dropped on both sides
MOST_TERMS = 64  # of a question
_MOST_PARTS = 16  # of one name

# Letters of scripts without blanks between words: Thai to Tibetan and Myanmar, Khmer, kana, ideographs, Hangul.
_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u0f40-\u0fbc\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
    "\u3005-\u3007\u3031-\u3035\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs and marks belong to their word, though `\w` does not cover them.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09d7\u0a01-\u0a03"
    "\u0a3c-\u0a51\u0a70-\u0a75\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bd7\u0c00-\u0c04"
    "\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0d57\u0d81-\u0d83\u0dca-\u0ddf\u1dc0-\u1dff"
)
_LETTER = rf"(?:(?![{_UNSPACED}])[\w{_MARKS}])"
_WORD = rf"{_LETTER}+"

_PIECES = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?P<symbol>(?<![\w+#])(?:[A-Za-z]\+\+|[A-Za-z]#)(?![\w+#]))"  # C++, C#
    rf"|(?P<dotted>(?<![\w.)\]/])\.(?=[A-Za-z])|(?<![\w-])--?(?=[A-Za-z]{{2}}))?"  # .NET, --force; not -force
    # Joined by . - _ @ & : and apostrophes, always between two letters or digits. Possessive: nothing is given back.
    rf"(?P<name>{_WORD}(?:(?:[.@&-]|:(?=\d)|(?<=\d),(?=\d{{3}}(?!\d))){_WORD})*+)(?P<plus>\+\+(?![\w+]))?"
)
_JOINTS = re.compile(r"[.\-_@&:]+")
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_RUNS = re.compile(r"\d+|\D+")
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)", re.IGNORECASE)
_DIGIT_JOINT = re.compile(r"(?<=\d)[-_](?=\d)")
_SEGMENTS = re.compile(r"\n| > ")
_IGNORED = re.compile("[\u0640\u200c\u200d]")  # Arabic stretching and joiners: shape, not letters
_APOSTROPHES = re.compile(r"(?<=\w)['\u2019\u02bc](?:(?:s|t|d|m|re|ll|ve)\b)?", re.IGNORECASE)


class Token(NamedTuple):
    """A term at a position; a tuple, since a long document has hundreds of thousands."""

    term: str
    position: int  # counts words from 0; a whole name stands at the position of its first part


def tokens(text: str, language: str) -> list[Token]:
    """Return the tokens of a passage in reading order.

    Terms are NFKC, lower-case, stemmed and without accents. Stop words leave a gap in the positions; they are kept in a
    line (or a heading of a path) that has nothing else, so that "About us" or "The Who" can be found.
    """
    found: list[Token] = []
    position = 0
    for segment in _SEGMENTS.split(_fold_width(text)):
        if segment and not segment.isspace():
            kept, common, position = _cut(segment, language, position)
            found += kept or common
    return found


def words(text: str, language: str) -> list[str]:
    """Return the words of a question in reading order, each whole and stemmed, its stop words among them.

    The parts of a name are left out; a text without blanks gives its pairs of characters.
    """
    return [word.tokens[0].term for word in _words(_fold_width(text), language, 0)]


class Terms(NamedTuple):
    """What the text legs look for."""

    terms: tuple[str, ...]  # distinct
    words: tuple[int, ...]  # the places in `terms` of whole words; the others are only parts of a name


def question_terms(text: str, language: str, limit: int = MOST_TERMS) -> Terms:
    """Return the distinct terms of a question, at most `limit`, in order of appearance, and which are whole words.

    Of a longer question half of the limit goes to its first terms and a quarter to its last ones, since people ask
    before or after what they paste; the rest goes to the terms that say most: the longest, earlier ones first.
    """
    found = _question_words(text, language)
    whole = {word.tokens[0].term for word in found}
    distinct = list(dict.fromkeys(token.term for word in found for token in word.tokens))
    if len(distinct) > limit:
        first, last = limit // 2, limit // 4
        middle = distinct[first : len(distinct) - last]
        telling = set(sorted(middle, key=len, reverse=True)[: limit - first - last])
        distinct = distinct[:first] + [term for term in middle if term in telling] + distinct[len(distinct) - last :]
    return Terms(tuple(distinct), tuple(place for place, term in enumerate(distinct) if term in whole))


def terms(text: str, language: str, limit: int = MOST_TERMS) -> list[str]:
    """Return the distinct terms of a question, as `question_terms` does."""
    return list(question_terms(text, language, limit).terms)


def _question_words(text: str, language: str) -> list[_Word]:
    found = list(_words(_fold_width(text), language, 0))
    return [word for word in found if not word.common] or found


def _fold_width(text: str) -> str:
    """Equate full-width and composed forms (NFKC), and part contractions and elisions at their apostrophes."""
    if not text.isascii():
        text = _IGNORED.sub("", unicodedata.normalize("NFKC", text))
    return _APOSTROPHES.sub(" ", text) if "'" in text or "\u2019" in text or "\u02bc" in text else text


def _cut(text: str, language: str, position: int) -> tuple[list[Token], list[Token], int]:
    """Return the telling tokens, the stop words, and the position after the text."""
    kept: list[Token] = []
    common: list[Token] = []
    for word in _words(text, language, position):
        (common if word.common else kept).extend(word.tokens)
        position = word.after
    return kept, common, position


class _Word(NamedTuple):
    """What is written in one piece: its whole first, then what it is also found by."""

    tokens: list[Token]
    common: bool  # a stop word
    after: int  # the position of the next word


def _words(text: str, language: str, position: int) -> Iterator[_Word]:
    shouted = text.isupper()
    for match in _PIECES.finditer(text):
        if match["unspaced"]:
            for i, pair in enumerate(_pairs(match["unspaced"])):
                yield _Word([Token(pair, position + i)], False, position + i + 1)
            position += max(1, len(match["unspaced"]) - 1)
        elif match["symbol"]:
            yield _Word([Token(match["symbol"].lower(), position)], False, position + 1)
            position += 1
        elif name := match["name"]:
            name = name.strip("_")
            if not name:
                continue
            if _is_word(name) and not match["dotted"] and not match["plus"]:
                word = name.lower()
                # "IT" and "WHO" are names in a text that is not all in capitals.
                acronym = not shouted and len(name) > 1 and name.isupper()
                common = word in stop_words(word, language) and not acronym
                yield _Word([Token(stem(word, language)[:LONGEST], position)], common, position + 1)
                position += 1
            else:
                symbols = (match["dotted"] or "", match["plus"] or "")
                found = _name_terms(name, symbols, language)
                after = position + 1 + found[-1][1]
                yield _Word([Token(term[:LONGEST], position + offset) for term, offset in found], False, after)
                position = after


def _is_word(name: str) -> bool:
    """Is this one plain word: letters only, no hump of camel case?"""
    return name.isalpha() and (name.islower() or name[1:].islower() or name.isupper() or not name.isascii())


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for start in range(len(run) - 1):
        yield run[start : start + 2]


def _name_terms(name: str, symbols: tuple[str, str], language: str) -> list[tuple[str, int]]:
    """Return the whole name and its parts, each with its offset in words; the last one has the largest."""
    if version := _VERSION.fullmatch(name):
        # Release 2.14.0 belongs to 2.14, but 2.1 has nothing to do with 2.10: whole numbers only.
        numbers = version[1].split(".")[:_MOST_PARTS]
        return [(".".join(numbers[:count]), 0) for count in range(len(numbers), 1, -1)]
    prefix, suffix = symbols
    whole = name.lower()
    if "." not in whole and "@" not in whole and ":" not in whole:
        whole = _DIGIT_JOINT.sub("\0", whole).replace("-", "").replace("_", "").replace(",", "").replace("\0", "-")
    found = {(stem(whole, language) if whole.isalpha() else whole, 0): None}
    if suffix or prefix in {"--", "."}:
        found = {(f"{prefix}{name.lower()}{suffix}", 0): None} | found
    parts = _parts(name)
    for offset, part in enumerate(parts if len(parts) > 1 else ()):
        if part not in stop_words(part, language) and (len(part) > 1 or not part.isalpha()):
            found[stem(part, language), offset] = None
    return list(found)


def _parts(name: str) -> list[str]:
    """Split a name at its joints, its humps, and once or twice between letters and digits."""
    parts: list[str] = []
    for piece in _JOINTS.split(name.replace(",", "")):
        runs = _HUMPS.findall(piece) if piece.isascii() else _RUNS.findall(piece)
        # More changes than in `sha256` or `10gb` are a key or a hash, whose bits mean nothing.
        changes = sum(a.isdigit() != b.isdigit() for a, b in itertools.pairwise(runs))
        parts.extend(run.lower() for run in (runs if changes <= 2 else [piece]))
        if len(parts) >= _MOST_PARTS:
            break
    return parts[:_MOST_PARTS]
