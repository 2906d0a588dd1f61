"""A made-up knowledge base of any size: texts, names, relations and vectors from a seed, for filling stores directly.

Words follow Zipf and Mandelbrot (the chance of rank r is proportional to 1 / (r + 20)), so that some are in every
tenth text and most in a few, as the words of a language that are no stop words; names do too, from a list that grows
with the number of texts. Vectors are unit vectors around the centre of their topic.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

WORDS = 20_000
TOPICS = 200
DIMENSION = 384
BODY_WORDS, ANSWER_WORDS = 80, 30
NAMES, TERMS = 3, 3  # entities of a text
TEXTS_A_NAME = 5  # one name for so many texts
_SHIFT, _NAME_SHIFT = 20, 5
_SEED = 20_240_502
_ONSETS = (*"bcdfghklmnprstvz", "br", "cl", "dr", "fl", "gr", "pl", "pr", "sk", "sl", "st", "tr")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "io", "ou")
_ENDS = ("n", "r", "l", "m", "x", "nd", "rt", "st", "ck", "lm")


@dataclass(frozen=True, kw_only=True)
class Text:
    """One passage: of a document, or a Q&A pair."""

    id: str
    heading: str
    body: str
    topic: int
    entities: tuple[str, ...]
    code: str  # only this text has it; empty in nine of ten

    @property
    def links(self) -> Iterator[tuple[str, str]]:
        """The pairs of its entities that are related: neighbours, and the first with the last."""
        yield from zip(self.entities, self.entities[1:], strict=False)
        if len(self.entities) > 2:
            yield self.entities[0], self.entities[-1]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, the text it was made from, what it names, and what it is about."""

    text: str
    source: str  # a text's id
    entities: tuple[str, ...]
    topic: int


class Base:
    """The texts of one tenant and questions about them; two bases of one name and size are alike."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self._words = _Drawn(_vocabulary(WORDS), _SHIFT)
        self._names = _Drawn(_names(max(10, size // TEXTS_A_NAME)), _NAME_SHIFT)
        self._centres = _unit(np.random.default_rng(_SEED).standard_normal((TOPICS, DIMENSION)))

    def texts(self, kind: str) -> Iterator[Text]:
        """Yield the `size` texts of a kind, "document" or "qa"."""
        for number in range(self.size):
            yield self.text(kind, number)

    def text(self, kind: str, number: int) -> Text:
        """Return text n of a kind."""
        chance = random.Random(f"{_SEED} {self.name} {kind} {number}")
        names = tuple(dict.fromkeys(self._names.draw(chance, NAMES)))
        length = BODY_WORDS if kind == "document" else ANSWER_WORDS
        words = self._words.draw(chance, length)
        terms = tuple(dict.fromkeys(word for word in words[:TERMS]))
        code = f"E{100_000 + number}" if chance.random() < 0.1 else ""
        for place, said in enumerate((*names, code)):
            words[place * 7 + 3 : place * 7 + 3] = [said] if said else []
        sentences = [" ".join(words[start : start + 12]).capitalize() + "." for start in range(0, len(words), 12)]
        return Text(
            id=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.name} {kind} {number}")),
            heading=" ".join(self._words.draw(chance, 4)).capitalize(),
            body=" ".join(sentences),
            topic=chance.randrange(TOPICS),
            entities=tuple(name.lower() for name in names) + terms,
            code=code,
        )

    def vectors(self, texts: Sequence[Text | Question]) -> NDArray[np.float32]:
        """Return one unit vector a text, near the centre of its topic."""
        chance = np.random.default_rng([_SEED, *texts[0].topic.to_bytes(2, "big"), len(texts)])
        noise = _unit(chance.standard_normal((len(texts), DIMENSION)))
        near = self._centres[[text.topic for text in texts]] + 1.2 * noise
        return _unit(near).astype(np.float32)

    def questions(self, kind: str, number: int) -> list[Question]:
        """Return questions: each has words of one text, a common word, and in turn a name, a code, both or neither."""
        chance = random.Random(f"{_SEED} {self.name} questions {kind}")
        found: list[Question] = []
        while len(found) < number:
            text = self.text(kind, chance.randrange(self.size))
            wants_code = len(found) % 4 in (1, 2)
            if wants_code and not text.code:
                continue
            asked = chance.sample(text.body.rstrip(".").lower().split(), 3)
            common = self._words.first(chance, 60)
            name = text.entities[0].title() if len(found) % 4 in (0, 2) else ""
            said = f"How does the {asked[0]} {asked[1]} {common} with {asked[2].rstrip('.')} {name} {text.code}".split()
            named = (text.entities[0], text.entities[1], text.entities[-1])
            found.append(Question(text=f"{' '.join(said)}?", source=text.id, entities=named, topic=text.topic))
        return found


class _Drawn:
    """Words in order of how common they are."""

    def __init__(self, words: Sequence[str], shift: int) -> None:
        self._all = words
        self._cumulated = list(accumulate(1 / (rank + shift) for rank in range(1, len(words) + 1)))

    def draw(self, chance: random.Random, number: int) -> list[str]:
        return chance.choices(self._all, cum_weights=self._cumulated, k=number)

    def first(self, chance: random.Random, number: int) -> str:
        return self._all[chance.randrange(number)]


def _vocabulary(number: int) -> list[str]:
    chance = random.Random(_SEED)
    words: dict[str, None] = {}
    while len(words) < number:
        syllables = chance.choice((2, 2, 3))
        body = "".join(chance.choice(_ONSETS) + chance.choice(_VOWELS) for _ in range(syllables))
        words[body + chance.choice(_ENDS)] = None
    return list(words)


def _names(number: int) -> list[str]:
    chance = random.Random(_SEED + 1)
    names: dict[str, None] = {}
    while len(names) < number:
        names[" ".join(_syllables(chance).capitalize() + "o" for _ in range(2))] = None
    return list(names)


def _syllables(chance: random.Random) -> str:
    parts = [chance.choice(_ONSETS) + chance.choice(_VOWELS) for _ in range(2)]
    return f"{''.join(parts)}{chance.choice(_ONSETS)}"


def _unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit
