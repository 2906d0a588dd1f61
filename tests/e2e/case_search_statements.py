"""Statements about how the search ran: its legs, its errors, its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.e2e.case_outcomes import Answer, Outcome
from tests.e2e.case_registry import Statement, into, only, unless

Given = Mapping[str, Any]

SEARCH_STATEMENTS: dict[str, Statement[Answer]] = {}
_search = into(SEARCH_STATEMENTS)


@_search
def legs_never_error(answer: Answer, legs: Sequence[str], _: Given, __: Outcome) -> str | None:
    """None of these legs, where the profile has them, reports `error` or `timeout`."""
    wrong = [leg for leg in _in_profile(answer, legs) if _status(answer, leg) not in ("ok", "empty", "skipped")]
    return unless(not wrong, f"{wrong}: {_ran(answer)}")


@_search
def legs_empty_or_skipped(answer: Answer, legs: Sequence[str], _: Given, __: Outcome) -> str | None:
    """Each of these, where the profile has them, reports `empty` or `skipped`."""
    wrong = [leg for leg in _in_profile(answer, legs) if _status(answer, leg) not in ("empty", "skipped")]
    return unless(not wrong, f"{wrong}: {_ran(answer)}")


@_search
def leg_has_candidates(answer: Answer, legs: Sequence[str], _: Given, __: Outcome) -> str | None:
    """Each of these reports at least one candidate."""
    wrong = [leg for leg in legs if leg not in answer.reply.legs or not answer.reply.legs[leg].candidates]
    return unless(not wrong, f"{wrong}: {_ran(answer)}")


@_search
def reply_not_degraded(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """No leg is degraded; a reranker skipped for want of a model does not count."""
    reply = answer.reply
    excused = all(reason.startswith("rerank") and "no model" in reason for reason in reply.reasons)
    whole = reply.error is None and (not reply.degraded or (bool(reply.reasons) and excused))
    return only(expected, True) or unless(whole, f"{reply.error or reply.reasons}; {_ran(answer)}")


@_search
def reply_not_error(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """A reply with a list of passages, maybe empty."""
    return only(expected, True) or unless(answer.reply.error is None, f"{answer.reply.error}")


@_search
def answered_by_deadline(answer: Answer, expected: Any, _: Given, __: Outcome) -> str | None:
    """A reply of any kind in time: a quarter of a second is for the way back."""
    lost = answer.reply.error is not None and answer.reply.error.error_class == "no reply"
    in_time = not lost and answer.seconds <= answer.allowed + 0.25
    return only(expected, True) or unless(in_time, f"{answer.reply.error} after {answer.seconds:.2f} s")


@_search
def error_reply(answer: Answer, error_class: str, _: Given, __: Outcome) -> str | None:
    """A reply that refuses the question under this class and names the field."""
    error = answer.reply.error
    refused = error is not None and error.error_class == error_class and bool(error.field) and not answer.passages
    return unless(refused, f"the error is {error}: {answer.docs}")


def _in_profile(answer: Answer, legs: Sequence[str]) -> list[str]:
    return [leg for leg in legs if leg in answer.profile.legs]


def _status(answer: Answer, leg: str) -> str | None:
    return answer.reply.legs[leg].status if leg in answer.reply.legs else None


def _ran(answer: Answer) -> str:
    legs = {leg: f"{ran.status} {ran.candidates} {ran.reason or ''}" for leg, ran in answer.reply.legs.items()}
    return f"legs {legs}, error {answer.reply.error}"
