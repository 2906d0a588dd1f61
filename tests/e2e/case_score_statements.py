"""Statements about the scores of a reply."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from tests.e2e.case_outcomes import Answer, Outcome
from tests.e2e.case_registry import Statement, into, only, unless

Given = Mapping[str, Any]

SCORE_STATEMENTS: dict[str, Statement[Answer]] = {}
_score = into(SCORE_STATEMENTS)


@_score
def scores_equal_on_shared(answer: Answer, other: int, _: Given, outcome: Outcome) -> str | None:
    """Passages that the other question returned too have the same absolute score here."""
    twin = outcome.other(answer, other)
    theirs = dict(zip([p.passage_id for p in twin.passages], twin.scores(), strict=True)) if twin else {}
    ids = [passage.passage_id for passage in answer.passages]
    pairs = [(mine, theirs[i]) for i, mine in zip(ids, answer.scores(), strict=True) if i in theirs]
    equal = all(a is not None and b is not None and math.isclose(a, b, abs_tol=1e-6) for a, b in pairs)
    return unless(bool(pairs) and equal, f"scores here and there: {pairs}")


@_score
def scores_between(answer: Answer, bounds: Sequence[float], _: Given, __: Outcome) -> str | None:
    """The absolute scores are in this range, its ends included."""
    low, high = bounds
    return unless(all(s is not None and low <= s <= high for s in answer.scores()), f"scores {answer.scores()}")


@_score
def all_scores_at_least(answer: Answer, least: float, given: Given, outcome: Outcome) -> str | None:
    """No absolute score is lower."""
    return scores_between(answer, (least, math.inf), given, outcome)


@_score
def scores_descending(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """The absolute scores never rise."""
    scores = answer.scores()
    falling = None not in scores and all(a >= b for a, b in pairwise(scores) if a is not None and b is not None)
    return only(expected, True) or unless(falling, f"scores {scores}")


@_score
def all_scores_are_numbers(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """Every absolute score is a finite number."""
    finite = all(score is not None and math.isfinite(score) for score in answer.scores())
    return only(expected, True) or unless(finite, f"scores {answer.scores()}")


@_score
def per_leg_scores_reported(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """Each passage names its rank and raw score in every leg that found it."""
    legs = [passage.legs for passage in answer.passages]
    said = all(each and all(s.rank >= 1 and math.isfinite(s.score) for s in each.values()) for each in legs)
    return only(expected, True) or unless(said, f"legs {legs}")
