"""The figures of a scenario: what was lost, repeated, flagged, late. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tests.faults.evidence import Evidence, Outcome


def figures(of: Evidence, complaints: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return what the report prints, seconds where it is a time."""
    repeats = Counter((each.doc, each.version) for each in of.receipts)
    sent = {(each.doc, each.version): each.at for each in of.sent if each.delivered and not each.planted}
    first: dict[tuple[str, int], float] = {}
    for each in of.receipts:
        if each.status == "searchable" and (each.doc, each.version) in sent:
            first.setdefault((each.doc, each.version), each.at)
    searchable = sorted(at - sent[key] for key, at in first.items())
    return {
        "documents": len(of.sent),
        "questions": len(of.asked),
        "lost": sum("is live," in line for line in complaints["I1"]),
        "duplicates": sum(times - 1 for times in repeats.values()),
        "searchable p50": _share(searchable, 0.5),
        "searchable p95": _share(searchable, 0.95),
        "errors": sum(outcome.error is not None for outcome in of.outcomes),
        "degraded": sum(outcome.degraded for outcome in of.outcomes),
        "degraded wrongly": len(complaints["I4"]),
        "worst overrun": max((over for over, _ in overruns(of)), default=0.0),
        "take-over": max(of.takeovers.values(), default=0.0),
        "dead letters": len(of.letters),
    }


def _share(values: Sequence[float], share: float) -> float:
    """Return the value that this share of sorted values does not exceed, seconds."""
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0.0


def overruns(of: Evidence) -> list[tuple[float, Outcome]]:
    """Return by how many seconds each outcome came after its deadline."""
    deadlines = {each.id: each.deadline for each in of.asked}
    return [
        (max(0.0, outcome.at - deadlines[outcome.id]), outcome) for outcome in of.outcomes if outcome.id in deadlines
    ]
