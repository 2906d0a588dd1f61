"""Where a chunk stands and what it is about, said by a language model at ingest, and what of it is believed.

Source: Anthropic, "Introducing Contextual Retrieval" (2024). Beside the sentences the model is asked for words that
people would search the chunk with and that it lacks. A wrong number would be found as if the document said it: every
number is checked against the text that the model saw.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from streams.domain import normalise, prompts, tokens
from streams.domain.prompts import Prompt

MOST_TOKENS = 200
MOST_SENTENCES = 3
LONGEST = 400  # characters of all sentences
MOST_WORDS = 8  # words or phrases
LONGEST_WORD = 60  # characters of one
AROUND = 6_000  # characters of the document that the model is shown

_SYSTEM = (
    "You situate a passage within its document for a search engine. First write one or two short sentences: which "
    "document the passage is from and what it is about. Then write a line that begins with WORDS: and has up to "
    f"{MOST_WORDS} words or short phrases, separated by commas, that people would use to search for the passage and "
    "that do not stand in it. Use the passage's language, and no number that is not in the text. " + prompts.DATA
)
_LIST = re.compile(r"^\W*words\W*?:\W*", re.IGNORECASE | re.MULTILINE)
_SENTENCES = re.compile(r"(?<=[.!?…。！？])\s+|\n+")


def prompt(*, document: str, chunk: str, mark: str) -> Prompt:
    """Return the prompt for a chunk and the part of the document around it."""
    user = f"{prompts.fenced('document', document, mark)}\n{prompts.fenced('passage', chunk, mark)}"
    return Prompt(system=_SYSTEM, user=user)


def read(said: str, *, document: str, chunk: str, language: str) -> str | None:
    """Return the context to put before a chunk: sentences, then words that the chunk lacks; none where nothing is left.

    A sentence or word with a number or an address that neither text has is dropped.
    """
    seen = f"{document}\n{chunk}"
    said = prompts.plain(said, 8 * LONGEST)
    mentioned = _LIST.search(said)
    prose, listed = (said[: mentioned.start()], said[mentioned.end() :]) if mentioned else (said, "")
    sentences = _kept_sentences(prose, seen, language)
    words = _kept_words(listed, seen, chunk, language)
    context = " ".join([*sentences, *([", ".join(words) + "."] if words else [])])
    return context or None


def around(bodies: Sequence[str], place: int, limit: int = AROUND) -> str:
    """Return the passages around one, nearest first until `limit` characters are full, in the document's order."""
    kept = [place]
    room = limit - len(bodies[place])
    for distance in range(1, len(bodies)):
        for near in (place - distance, place + distance):
            if 0 <= near < len(bodies):
                room -= len(bodies[near]) + 2
                if room < 0:
                    return "\n\n".join(bodies[each] for each in sorted(kept))[:limit]
                kept.append(near)
    return "\n\n".join(bodies[each] for each in sorted(kept))[:limit]


def _kept_sentences(prose: str, seen: str, language: str) -> list[str]:
    kept: list[str] = []
    room = LONGEST
    for raw in _SENTENCES.split(prose):
        sentence = normalise.normalise_question(raw)
        # A sentence that shares no word with the text is not about it.
        known = prompts.confirmed(sentence, seen) and prompts.spoken_of(sentence, seen, language) > 0
        if known and len(sentence) < room and len(kept) < MOST_SENTENCES:
            room -= len(sentence) + 1
            kept.append(sentence)
    return kept


def _kept_words(listed: str, seen: str, chunk: str, language: str) -> list[str]:
    known = {token.term for token in tokens.tokens(chunk, language)}
    kept: list[str] = []
    for raw in re.split(r"[,;\n]", listed):
        word = normalise.normalise_question(raw).strip(" .\"'“”«»*-")
        terms = set(tokens.terms(word, language))
        if terms - known and len(word) <= LONGEST_WORD and len(kept) < MOST_WORDS and prompts.confirmed(word, seen):
            known |= terms
            kept.append(word)
    return kept
