"""What outputs say of the work behind them, as readings: replies, and receipts of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schemas.documents import DocumentStatus
from schemas.replies import LegReport, QueryReply
from streams.domain import admission, reports
from streams.telemetry.instruments import DEGRADED, FRESHNESS, LEG_DURATION, LEG_RESULTS, QUESTION_DURATION
from streams.telemetry.signals import Reading
from streams.wire import Outgoing


def readings(outputs: Sequence[Outgoing], *, age: float) -> Iterator[Reading]:
    """Yield what the messages say; age: seconds since the change or question behind them was sent."""
    for output in outputs:
        message = output.message
        if isinstance(message, QueryReply) and (message.final or message.error is not None):
            yield from _of_reply(message)
        elif isinstance(message, DocumentStatus):
            yield FRESHNESS, age, {"status": message.status}


def result(reply: QueryReply) -> str:
    """Return the class of an outcome: an error's, or whether the answer is whole."""
    if reply.error is not None:
        return reply.error.error_class
    return "degraded" if reply.degraded else "answered"


def _of_reply(reply: QueryReply) -> Iterator[Reading]:
    labels = {"result": result(reply), "cache": reply.cache}
    yield QUESTION_DURATION, reply.milliseconds.total / 1000, labels
    if reply.cache == "hit":
        return  # its legs ran for another question
    named = {reason.partition(": ")[0] for reason in reply.reasons}  # a leg may say something that is no reason
    told = 0
    for leg, report in reply.legs.items():
        yield LEG_RESULTS, 1, {"leg": leg, "status": report.status}
        if report.milliseconds is not None and report.status != "skipped":
            yield LEG_DURATION, report.milliseconds / 1000, {"leg": leg}
        if leg in named:
            told += 1
            yield DEGRADED, 1, {"leg": leg, "reason": _reason(report)}
    overtaken = reply.reasons.count(reports.OVERTAKEN)
    # The rest are options of the profile that did not do their work: a rewrite, an expansion.
    for reason, number in (("overtaken", overtaken), ("option", len(reply.reasons) - told - overtaken)):
        if number:
            yield DEGRADED, number, {"leg": "other", "reason": reason}


def _reason(report: LegReport) -> str:
    if report.reason == admission.REASON:
        return "overloaded"
    return report.status if report.status in ("timeout", "error") else "fallback"
