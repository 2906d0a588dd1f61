"""Synonyms: phrases that a question is extended by, for the vectors.

The format is that of Solr's synonym files. `a, b => c, d` adds c and d to a question that has a or b; `a, b, c` adds
the others to a question that has any; `#` starts a comment; a `,`, `#` or `=>` of a phrase has a `\\` before it.

Phrases are compared as the text legs compare words: by their stems, so that a rule for "refund" holds for "refunds". At
each word the longest phrase wins, and the search goes on behind it. What a rule adds is never looked up again: no chain
and no loop, whatever the rules say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from streams.domain.stems import known, stem
from streams.domain.tokens import MOST_TERMS, words

MOST_ADDED = 20  # words that a question is extended by
LONGEST_PHRASE = 12  # words; bounds the steps at each word of a question

_COMMENT = re.compile(r"(?<!\\)#")
_COMMA = re.compile(r"(?<!\\),")
_ARROW = re.compile(r"(?<!\\)=>")
_ESCAPED = re.compile(r"\\(.)")


class InvalidSynonyms(ValueError):
    """A line that is no rule; `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A question that has any phrase of `left` is extended by those of `right`."""

    left: tuple[str, ...]
    right: tuple[str, ...]


def parse(text: str) -> tuple[Rule, ...]:
    """Read a dictionary; raise InvalidSynonyms."""
    rules: list[Rule] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if rule := _COMMENT.split(line, maxsplit=1)[0].strip():
            rules.append(_rule(rule, number))
    return tuple(rules)


def _rule(text: str, line: int) -> Rule:
    sides = [_phrases(side, line) for side in _ARROW.split(text)]
    if len(sides) > 2:
        raise InvalidSynonyms(line, "has more than one `=>`; write one rule a line")
    if len(sides) == 1 and len(sides[0]) == 1:
        raise InvalidSynonyms(line, f"{sides[0][0]!r} stands alone; write `a, b` or `a => b`")
    return Rule(left=sides[0], right=sides[-1])


def _phrases(side: str, line: int) -> tuple[str, ...]:
    phrases = tuple(" ".join(_ESCAPED.sub(r"\1", phrase).split()) for phrase in _COMMA.split(side))
    for phrase in phrases:
        if not phrase:
            raise InvalidSynonyms(line, "a phrase is empty: two commas, or nothing beside a `,` or `=>`")
        # Stop words and names count as words here, in whatever language.
        count = len(words(phrase, "en"))
        if not count:
            raise InvalidSynonyms(line, f"{phrase!r} has no word in it")
        if count > LONGEST_PHRASE:
            raise InvalidSynonyms(line, f"{phrase!r} has {count} words; a phrase may have {LONGEST_PHRASE}")
    return phrases


@dataclass(slots=True)
class _Node:
    """A place in the tree of phrases, which branches by word."""

    further: dict[str, _Node] = field(default_factory=dict)
    adds: list[str] = field(default_factory=list)  # when a phrase ends here


class Synonyms:
    """A dictionary, ready to be applied in any language; its tree of a language is built when first asked for."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._trees: dict[str, _Node] = {}

    def __len__(self) -> int:
        return len(self._rules)

    def expand(self, text: str, language: str, terms: int) -> str:
        """Return the question with what the rules add behind it; the very same text where they add nothing.

        `terms`: how many terms the question has. A phrase that the question has already is not added; the others are,
        as far as they fit into MOST_ADDED words, and into the limit of terms, so that the question's own are all kept.
        """
        room = min(MOST_ADDED, MOST_TERMS - terms)
        if room <= 0:
            return text
        own = words(text, language)
        said = _joined(own)
        added: list[str] = []
        for phrase in self._matched(own, language):
            new = words(phrase, language)
            size = max(len(new), len(phrase.split()))
            if size <= room and _joined(new) not in said:
                added.append(phrase)
                said += _joined(new)
                room -= size
        return " ".join([text, *added])

    def _matched(self, own: Sequence[str], language: str) -> Iterator[str]:
        """Return what the rules say of a question's words, in the order of its words."""
        language = known(language)  # a caller may name any; there must not be a tree for each
        tree = self._trees.get(language)
        if tree is None:
            tree = self._trees[language] = _tree(self._rules, language)
        place = 0
        while place < len(own):
            length, found = _longest(tree, own, place)
            yield from found
            place += length or 1


def _longest(tree: _Node, own: Sequence[str], start: int) -> tuple[int, list[str]]:
    """Return how many words the longest phrase has that begins at `start`, and what it adds."""
    node: _Node | None = tree
    length, adds = 0, tree.adds
    for count, word in enumerate(own[start : start + LONGEST_PHRASE], start=1):
        node = node.further.get(word) if node else None
        if node is None:
            break
        if node.adds:
            length, adds = count, node.adds
    return length, adds


def _tree(rules: Sequence[Rule], language: str) -> _Node:
    tree = _Node()
    for rule in rules:
        for phrase in rule.left:
            for way in _ways(words(phrase, language), phrase, language):
                node = tree
                for word in way:
                    node = node.further.setdefault(word, _Node())
                node.adds += [other for other in rule.right if other not in node.adds]
    return tree


def _ways(written: list[str], phrase: str, language: str) -> Iterator[list[str]]:
    """Return how a phrase may be written: as it is, or with one of its blanks left out or a hyphen (self-employed)."""
    yield written
    plain = phrase.lower().split()
    if len(plain) == len(written) and all(word.isalpha() for word in plain):
        for place in range(len(plain) - 1):
            joined = stem(plain[place] + plain[place + 1], language)
            yield [*written[:place], joined, *written[place + 2 :]]


def _joined(of: Sequence[str]) -> str:
    return f" {' '.join(of)} "
