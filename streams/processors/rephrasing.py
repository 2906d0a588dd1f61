"""What `prepare` does to the wording of a question: follow-ups made whole, other phrasings. Nothing fails it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from schemas.queries import QueryRequest
from streams.domain import follow_up, phrasing, rewriting
from streams.domain.profile import Profile
from streams.domain.prompts import Prompt
from streams.errors import RankstreamError
from streams.processors.asking import Asker

T = TypeVar("T")

SHARE = 0.5  # of the time to the deadline that a language model may take, for all it is asked
LONGEST = 4.0  # seconds of it; `prepare` itself has five
NO_MODEL = "no language model is set"


@dataclass(frozen=True, kw_only=True)
class Rephrased:
    """A question as the legs are to search it."""

    text: str
    carried: str = ""  # what an earlier turn spoke of; counts half
    phrasings: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()  # why an option did not do its work

    def differs(self, asked: str) -> str | None:
        """Return the question as it is searched, where that is not what was asked."""
        searched = f"{self.text} {self.carried}".strip()
        return None if searched == asked else searched


async def rephrase(
    text: str, request: QueryRequest, *, profile: Profile, language: str, seconds: float, asker: Asker | None
) -> Rephrased:
    """Apply the options of a profile to a question; `seconds` are left to its deadline."""
    until = time.monotonic() + min(LONGEST, SHARE * seconds)
    found = Rephrased(text=text)
    if profile.rewrite == "terms" and request.history:
        found = replace(found, carried=follow_up.carried(text, request.history, language))
    if profile.rewrite == "llm" and request.history:
        rewritten, reason = await _asked(
            asker,
            request.tenant,
            lambda mark: rewriting.prompt(text, request.history, mark),
            lambda said: rewriting.read(said, text, request.history, language),
            max_tokens=rewriting.MOST_TOKENS,
            until=until,
        )
        found = replace(found, text=rewritten or text, reasons=_reasons("rewrite", reason))
    if profile.expansions:
        number, question = profile.expansions, found.text
        phrasings, reason = await _asked(
            asker,
            request.tenant,
            lambda mark: phrasing.prompt(question, number, mark),
            lambda said: phrasing.read(said, question, number),
            max_tokens=phrasing.MOST_TOKENS * number,
            until=until,
        )
        found = replace(found, phrasings=phrasings or (), reasons=found.reasons + _reasons("expansions", reason))
    return found


def _reasons(option: str, reason: str | None) -> tuple[str, ...]:
    return () if reason is None else (f"{option}: {reason}",)


async def _asked(
    asker: Asker | None,
    tenant: str,
    build: Callable[[str], Prompt],
    read: Callable[[str], T | None],
    *,
    max_tokens: int,
    until: float,
) -> tuple[T | None, str | None]:
    """Return what is believed of the model's answer, or why there is nothing."""
    if asker is None:
        return None, NO_MODEL
    left = until - time.monotonic()
    if left <= 0:
        return None, "no time left"
    try:
        found = await asker.ask(tenant, build, read, max_tokens=max_tokens, seconds=left)
    except RankstreamError:
        return None, "the language model gave no answer"  # what it says of itself stays in our logs
    return found, None if found is not None else "the language model's answer failed the checks"
