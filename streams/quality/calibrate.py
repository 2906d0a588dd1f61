"""Fits a profile's weights on labelled questions, as the running search sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np

from schemas.replies import QueryReply
from streams.domain.relevance import LEG_SIGNALS, Model
from streams.quality import fitting, ranking
from streams.quality.dataset import Question
from streams.quality.evaluate import PASSAGES, Asks
from streams.quality.fitting import Labelled


async def labelled(
    asks: Asks, questions: Sequence[Question], *, tenant: str, advance: Callable[[], None] = lambda: None
) -> list[Labelled]:
    """Ask the questions with `explain` and return their candidates' signals and grades."""
    slots = asyncio.Semaphore(4)

    async def one(question: Question) -> Labelled | None:
        async with slots:
            reply = await asks.ask(
                question.text, tenant=tenant, top_k=PASSAGES, timeout=10.0, explain=True, **question.fields
            )
        advance()
        return _labelled(question, reply)

    found = await asyncio.gather(*(one(question) for question in questions))
    return [each for each in found if each is not None]


def _labelled(question: Question, reply: QueryReply) -> Labelled | None:
    candidates = reply.passages
    if reply.error is not None or not candidates or reply.degraded:
        return None
    grades = [question.gold.get(ranking.place_of(each, question.gold), 0) for each in candidates]
    names = candidates[0].signals
    signals = {name: np.array([each.signals[name] for each in candidates]) for name in names}
    return Labelled(signals=signals, grades=np.maximum(np.array(grades, dtype=float), 0.0))


def models(sets: Sequence[Sequence[Labelled]]) -> dict[str, Model]:
    """Fit a model for every set of scoring legs that may have taken part."""
    every = sets[0][0].signals
    return {
        legs: fitting.fit(_without(sets, missing), [name for name in every if not _reads(name, missing)])
        for legs, missing in (
            ("dense+sparse", ()),
            ("dense", ("sparse",)),
            ("sparse", ("dense",)),
            ("", ("dense", "sparse")),
        )
    }


def _reads(name: str, legs: Sequence[str]) -> bool:
    return any(name in LEG_SIGNALS[leg] for leg in legs)


def _without(sets: Sequence[Sequence[Labelled]], legs: Sequence[str]) -> list[list[Labelled]]:
    """Return the questions as they would be without these legs: what only they found is not there."""
    others = [leg for leg in LEG_SIGNALS if leg not in legs]
    kept: list[list[Labelled]] = []
    for questions in sets:
        kept.append([])
        for question in questions:
            found = np.ones(len(question.grades), dtype=bool)
            if legs and others:
                found = np.any([question.signals[f"{leg}_rank"] > 0 for leg in others], axis=0)
            if found.any():
                zero = {name: values[found] * (not _reads(name, legs)) for name, values in question.signals.items()}
                kept[-1].append(Labelled(signals=zero, grades=question.grades[found]))
    return kept
