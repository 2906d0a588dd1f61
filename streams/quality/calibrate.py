"""Fits a profile's weights on labelled questions, as the running search sees them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from schemas.replies import QueryReply
from streams.domain.relevance import CONSTANT, LEG_SIGNALS, MEASURED, Model, derived, raw_score, relevance
from streams.errors import Invalid
from streams.quality import fitting, metrics, ranking
from streams.quality.dataset import Question
from streams.quality.evaluate import PASSAGES, Asks
from streams.quality.fitting import Labelled, Matrix


async def labelled(
    asks: Asks,
    questions: Sequence[Question],
    *,
    tenant: str,
    profile: str = "general",
    advance: Callable[[], None] = lambda: None,
) -> list[Labelled]:
    """Ask the questions with `explain` and return their candidates' signals and grades.

    Raises Invalid when the profile does not exist, needs vectors that are not there, or has answers without signals.
    """
    slots = asyncio.Semaphore(4)

    async def one(question: Question) -> Labelled | None:
        async with slots:
            reply = await asks.ask(
                question.text,
                tenant=tenant,
                profile=profile,
                top_k=PASSAGES,
                timeout=10.0,
                explain=True,
                cache=False,
                floor=0.0,
                **question.fields,
            )
        if reply.error is not None and reply.error.field == "profile":
            raise Invalid(reply.error.message, field="profile")
        advance()
        return _labelled(question, reply)

    found = await asyncio.gather(*(one(question) for question in questions))
    return [each for each in found if each is not None]


def _labelled(question: Question, reply: QueryReply) -> Labelled | None:
    candidates = reply.passages
    if reply.error is not None or not candidates or reply.degraded:
        return None
    places = tuple(ranking.place_of(each, question.gold) for each in candidates)
    grades = [question.gold.get(place, 0) for place in places]
    names = candidates[0].signals
    if not names:
        raise Invalid(f"answers of {reply.profile!r} have no signals to fit; use a profile with another `score`")
    signals = {name: np.array([each.signals[name] for each in candidates]) for name in names}
    return Labelled(
        signals=signals,
        grades=np.maximum(np.array(grades, dtype=float), 0.0),
        places=places,
        gold=dict(question.gold),
        embedder=reply.models.embedder,
    )


def embedder(sets: Sequence[Sequence[Labelled]]) -> str:
    """Return the one embedder that answered; raise Invalid when there was none, or several: weights belong to one."""
    found = {question.embedder for questions in sets for question in questions}
    if len(found) != 1 or None in found:
        said = ", ".join(sorted(name or "none" for name in found)) or "none"
        raise Invalid(f"weights belong to one embedder, and these answered: {said}", field="embedder")
    return str(found.pop())


def models(sets: Sequence[Sequence[Labelled]]) -> dict[str, Model]:
    """Fit a model for every set of scoring legs that may have taken part."""
    every = sets[0][0].signals
    return {
        legs: fitting.fit(
            _without(sets, missing), [name for name in every if name != CONSTANT and not _reads(name, missing)]
        )
        for legs, missing in (
            ("dense+sparse", ()),
            ("dense", ("sparse",)),
            ("sparse", ("dense",)),
            ("", ("dense", "sparse")),
        )
    }


def _reads(name: str, legs: Sequence[str]) -> bool:
    return any(name in LEG_SIGNALS[leg] for leg in legs)


_MEASURED_BY = {"dense": ("cosine", "dense_rank"), "sparse": ("bm25_idf", "sparse_rank")}


def _without(sets: Sequence[Sequence[Labelled]], legs: Sequence[str]) -> list[list[Labelled]]:
    """Return the questions as they would be without these legs: what only they found is not there."""
    others = [leg for leg in LEG_SIGNALS if leg not in legs]
    silent = [name for leg in legs for name in _MEASURED_BY[leg]]
    kept: list[list[Labelled]] = []
    for questions in sets:
        kept.append([])
        for question in questions:
            found = np.ones(len(question.grades), dtype=bool)
            if legs and others:
                found = np.any([question.signals[f"{leg}_rank"] > 0 for leg in others], axis=0)
            if found.any():
                measured = {name: question.signals[name][found] * (name not in silent) for name in MEASURED}
                kept[-1].append(Labelled(signals=derived(measured), grades=question.grades[found]))
    return kept


def told_apart(models: Mapping[str, Model], questions: Sequence[Labelled]) -> float:
    """Return how well the top score tells questions from the same ones without anything relevant: AUROC, from 0 to 1.

    The chance that a question with its answer has a higher top score than one without; ties count half. Questions whose
    answer was not found at all are left out.
    """
    model = models["dense+sparse"]
    answered = [question for question in questions if question.grades.any()]
    without = [left for question in answered if (left := fitting.unanswered(question)) is not None]
    ours, theirs = (
        np.array([relevance(model, question.signals).max() for question in lists]) for lists in (answered, without)
    )
    if not len(ours) or not len(theirs):
        return math.nan
    return float(np.mean([(ours > each).mean() + (ours == each).mean() / 2 for each in theirs]))


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """nDCG@10 on a set that the model has not seen, beside each leg alone and reciprocal rank fusion (k = 60)."""

    dense: float
    sparse: float
    rrf: float
    model: float


def left_out(sets: Sequence[Sequence[Labelled]]) -> list[LeftOut]:
    """Fit to all sets but one, for each in turn, and measure on that one."""
    rows = []
    for place, questions in enumerate(sets):
        names = [name for name in questions[0].signals if name != CONSTANT]
        model = fitting.fit([other for number, other in enumerate(sets) if number != place], names)
        rows.append(
            LeftOut(
                dense=_ndcg(questions, lambda signals: signals["dense_rank"]),
                sparse=_ndcg(questions, lambda signals: signals["sparse_rank"]),
                rrf=_ndcg(questions, lambda signals: signals["dense_rank"] + signals["sparse_rank"]),
                model=_ndcg(questions, lambda signals, fitted=model: raw_score(fitted, signals)),  # type: ignore[misc]
            )
        )
    return rows


def _ndcg(questions: Sequence[Labelled], score: Callable[[Mapping[str, Matrix]], Matrix]) -> float:
    found = []
    for question in questions:
        order = np.argsort(-score(question.signals), kind="stable")
        places = list(dict.fromkeys(question.places[number] for number in order))
        found.append(metrics.ndcg(places, question.gold, 10))
    return float(np.mean(found))
