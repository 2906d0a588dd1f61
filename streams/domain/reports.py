"""How a search ran: each leg's status, and why an answer is degraded."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from schemas.queries import Expected, Leg, LegResult
from schemas.replies import ErrorInfo, LegReport, QueryReply


def reports(expected: Expected, results: Mapping[Leg, LegResult]) -> dict[str, LegReport]:
    """Return how each leg of the profile ran; a leg that is silent ran into its time limit."""
    ran: dict[str, LegReport] = {}
    for leg in expected.query.legs:
        result = results.get(leg)
        if result is None:
            ran[leg] = LegReport(status="timeout", reason="no result in time")
        else:
            ran[leg] = LegReport(
                status=result.status,
                milliseconds=result.milliseconds,
                candidates=len(result.hits) + len(result.questions) + len(result.lexical),
                reason=result.reason,
            )
    for skipped, reason in expected.skipped.items():
        ran[skipped] = LegReport(status="skipped", reason=reason)
    return ran


# Told where the index changed under a search, and it was not made again: no time, or made often enough.
OVERTAKEN = "index: documents changed while they were searched for; what changed may be missing"


def reasons(legs: Mapping[str, LegReport]) -> tuple[str, ...]:
    """Return why the answer is degraded, a reason a leg that broke or that another model had to stand in for.

    None when all legs did what they could: a skipped one has its reason, and takes nothing from the answer.
    """
    broken = {
        leg: report
        for leg, report in legs.items()
        if report.status in ("timeout", "error") or (report.status != "skipped" and report.reason)
    }
    return tuple(f"{leg}: {report.reason or report.status}" for leg, report in sorted(broken.items()))


def following(last: QueryReply | None, reply: QueryReply) -> QueryReply | None:
    """Return what is shown of a reply after the revision that came last; none for one that says nothing new.

    That is the same record again, or what a second process says of the same question. An error after an answer closes
    that answer.
    """
    if last is None:
        return reply
    if reply.revision <= last.revision:
        return None
    return reply if reply.error is None else closing(last, reply.error)


def closing(reply: QueryReply, error: ErrorInfo | None = None) -> QueryReply:
    """Return the last revision that came as the final one: the reranked one did not come by the deadline, or failed."""
    report = LegReport(status="timeout", reason="no reply by the deadline")
    if error is not None:
        report = LegReport(status="error", reason=error.error_class)
    why = (*reply.reasons, *reasons({"rerank": report}))
    return msgspec.structs.replace(reply, final=True, degraded=True, reasons=why, legs={**reply.legs, "rerank": report})
