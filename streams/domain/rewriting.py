"""A follow-up rewritten to a question that stands alone, by a language model, and what of its answer is believed."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.queries import Turn
from streams.domain import normalise, prompts
from streams.domain.prompts import Prompt

MOST_TOKENS = 120
MOST_TURNS = 6
LONGEST_TURN = 1_000  # characters
LONGEST = 400  # characters of a rewritten question
LEAST_SHARED = 0.5  # of its terms that the conversation has

_ASKS = ("?", "？", "؟", ";")  # the last one asks in Greek
_SYSTEM = (
    "You rewrite the last question of a conversation so that it can be understood without the conversation. Put what "
    "it refers to in place of words like it, they, there. Keep its language and its meaning, answer nothing, and add "
    "nothing. If it stands alone already, repeat it. Reply with the question alone, on one line. " + prompts.DATA
)


def prompt(text: str, history: Sequence[Turn], mark: str) -> Prompt:
    """Return the prompt for a question and the turns before it; only the last turns are shown."""
    turns = "\n".join(f"{turn.role}: {_one_line(turn.text)}" for turn in history[-MOST_TURNS:])
    user = f"{prompts.fenced('conversation', turns, mark)}\n{prompts.fenced('question', text, mark)}"
    return Prompt(system=_SYSTEM, user=user)


def read(said: str, text: str, history: Sequence[Turn], language: str) -> str | None:
    """Return the rewritten question; none where it is not one line, too long, or says what nobody said before.

    It must ask where the question asks. Its numbers and addresses must stand in the conversation, and so must half of
    its terms.
    """
    found = prompts.plain(said, 4 * LONGEST).strip('"“”«»')
    if "\n" in found or not 0 < len(found) <= LONGEST:
        return None
    found = normalise.normalise_question(found)
    seen = "\n".join([*(turn.text[:LONGEST_TURN] for turn in history[-MOST_TURNS:]), text])
    answered = text.rstrip().endswith(_ASKS) and not found.endswith(_ASKS)  # small models like to answer
    if not found or answered or not prompts.confirmed(found, seen):
        return None
    return found if prompts.spoken_of(found, seen, language) >= LEAST_SHARED else None


def _one_line(text: str) -> str:
    return normalise.normalise_question(text[:LONGEST_TURN])
