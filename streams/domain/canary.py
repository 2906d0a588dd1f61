"""What a probe asks, what must be true of the answers, and what its runs come to; all as values."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from schemas.documents import DocumentChange, Op
from schemas.replies import QueryReply

SOURCE, DOC_ID = "probe", "canary"
DAY = 86_400.0  # seconds
LONG = 7_200.0  # seconds of degraded answers that a summary tells of
GRACE = 0.25  # seconds after the deadline in which an outcome is still in time
_LETTERS = "bcdfghjklmnpqrst"  # no word of any language has these alone

Outcome = Literal["passed", "degraded", "failed"]
Line = Mapping[str, Any]  # a run as it is written down


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, and which document must be among its passages, or must not."""

    text: str
    tenant: str
    agent: str | None = None
    profile: str = "general"
    expect: str | None = None  # SOURCE/DOC
    gone: str | None = None  # SOURCE/DOC that no passage may be of
    says: str = ""  # what a passage of the expected document must say
    said: str = ""  # what none of them may say any longer


@dataclass(frozen=True, kw_only=True)
class Check:
    """One step of a run."""

    name: str
    milliseconds: float
    problems: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()  # the reasons that the reply gives


@dataclass(frozen=True, kw_only=True)
class Canary:
    """A document with two lives: a word, then another one, each found nowhere else."""

    tenant: str
    version: int  # of the first life

    def change(self, life: int, op: Op = "upsert") -> DocumentChange:
        """Return the change that begins a life, or ends the last one."""
        content = "" if op == "delete" else f"# Canary\n\nThe signal word of the canary is {self.word(life)}."
        return DocumentChange(
            tenant=self.tenant,
            source=SOURCE,
            doc_id=DOC_ID,
            version=self.version + life,
            op=op,
            title="" if op == "delete" else "Canary",
            content=content,
        )

    def word(self, life: int) -> str:
        """Return the word of a life."""
        digest = hashlib.sha256(f"{self.tenant} {self.version} {life}".encode()).digest()
        return "".join(_LETTERS[byte % len(_LETTERS)] for byte in digest[:12])

    def question(self, life: int, *, gone: bool = False) -> Question:
        """Return the question for a life's word, which must be found, or must not be."""
        name = f"{SOURCE}/{DOC_ID}"
        text = f"What is the signal word {self.word(life)} of the canary?"
        if gone:
            return Question(text=text, tenant=self.tenant, gone=name)
        before = self.word(life - 1) if life else ""
        return Question(text=text, tenant=self.tenant, expect=name, says=self.word(life), said=before)


def problems(question: Question, reply: QueryReply, *, seconds: float, timeout: float) -> Iterator[str]:
    """Yield what is wrong with an answer that came after so many seconds."""
    if seconds > timeout + GRACE:
        yield f"the outcome came after {seconds:.2f} s, the deadline was {timeout:g} s"
    if reply.error is not None:
        yield f"{reply.error.error_class}: {reply.error.message}"
        return
    found = {f"{each.source}/{each.doc_id}" for each in reply.passages}
    texts = [each.text for each in reply.passages if f"{each.source}/{each.doc_id}" == question.expect]
    if question.expect is not None and not texts:
        yield f"{question.expect} is not among the {len(reply.passages)} passages"
    elif question.says and not any(question.says in text for text in texts):
        yield f"{question.expect} is found with a text that is not the last one"
    if question.said and any(question.said in each.text for each in reply.passages):
        yield f"{question.expect} is found with a text that was replaced"
    if question.gone in found:
        yield f"{question.gone} is found though it was deleted"


def outcome(checks: Sequence[Check]) -> Outcome:
    """Return what a run came to: a wrong answer is worse than a degraded one."""
    if any(check.problems for check in checks):
        return "failed"
    return "degraded" if any(check.degraded for check in checks) else "passed"


def line(checks: Sequence[Check], *, at: float, via: str, seconds: float, before: Sequence[Line]) -> dict[str, Any]:
    """Return a run as it is written down; before: the earlier runs; at: seconds since the epoch, when it began."""
    came = outcome(checks)
    return {
        "at": round(at, 3),
        "outcome": came,
        "via": via,
        "seconds": round(seconds, 3),
        "milliseconds": {check.name: round(check.milliseconds, 1) for check in checks},
        "problems": [f"{check.name}: {problem}" for check in checks for problem in check.problems],
        "degraded": list(dict.fromkeys(reason for check in checks for reason in check.degraded)),
        "failures_in_a_row": failures(before) + 1 if came == "failed" else 0,
    }


def failures(lines: Sequence[Line]) -> int:
    """Return how many runs failed in a row, up to the last one."""
    return int(lines[-1]["failures_in_a_row"]) if lines else 0


def degraded_since(lines: Sequence[Line]) -> float | None:
    """Return since when answers are degraded, in seconds since the epoch; none where the last run's were not."""
    since = None
    for each in reversed(lines):
        if not each["degraded"]:
            break
        since = float(each["at"])
    return since


def stretches(lines: Sequence[Line], *, now: float) -> Iterator[tuple[float, float, tuple[str, ...]]]:
    """Yield when answers were degraded, from a run to the first good one after it or to now, and the reasons."""
    begin, reasons = None, dict[str, None]()
    for each in lines:
        if each["degraded"]:
            begin = float(each["at"]) if begin is None else begin
            reasons |= dict.fromkeys(each["degraded"])
        elif begin is not None:
            yield begin, float(each["at"]), tuple(reasons)
            begin, reasons = None, {}
    if begin is not None:
        yield begin, now, tuple(reasons)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The runs of a day."""

    runs: Mapping[str, int]  # by outcome
    median: Mapping[str, float]  # milliseconds, by step
    p95: Mapping[str, float]
    failed: tuple[Line, ...]
    long: tuple[tuple[float, float, tuple[str, ...]], ...]  # degraded for longer than LONG: from, to, reasons

    @property
    def well(self) -> bool:
        """Whether there is nothing to look at."""
        return bool(sum(self.runs.values())) and not self.failed and not self.long


def day_of(at: float) -> int:
    """Return the number of the day (UTC) that seconds since the epoch lie in."""
    return int(at // DAY)


def summary(lines: Sequence[Line], *, now: float) -> Summary:
    """Sum up the runs of the last day; a stretch that began before it is told with its whole length."""
    day = [each for each in lines if each["at"] > now - DAY]
    took: dict[str, list[float]] = {}
    for each in day:
        for name, milliseconds in each["milliseconds"].items():
            took.setdefault(name, []).append(milliseconds)
    came: tuple[Outcome, ...] = ("passed", "degraded", "failed")
    return Summary(
        runs={name: sum(each["outcome"] == name for each in day) for name in came},
        median={name: _quantile(values, 0.5) for name, values in took.items()},
        p95={name: _quantile(values, 0.95) for name, values in took.items()},
        failed=tuple(each for each in day if each["outcome"] == "failed"),
        long=tuple(
            (begin, end, reasons)
            for begin, end, reasons in stretches(lines, now=now)
            if end - begin > LONG and end > now - DAY
        ),
    )


def _quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that so large a share of the values does not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
