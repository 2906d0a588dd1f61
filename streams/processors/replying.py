"""What the processors that answer share: the way back to the asker, the time spent, and the error without the fence."""

from __future__ import annotations

from schemas.queries import ReplyTo
from schemas.replies import ErrorInfo, QueryReply
from streams import wire
from streams.wire import Outgoing
from topics import catalogue

# Without the fence a deleted or foreign text could get through: no passages rather than wrong ones.
UNCHECKED = ErrorInfo(error_class="fence unavailable", message="the passages could not be checked; nothing is shown")


def outgoing(reply_to: ReplyTo, reply: QueryReply, tenant: str) -> Outgoing:
    """Return a reply on its way to who asked; `tenant`: whose question it was, empty where it could not be read."""
    return Outgoing(
        topic=catalogue.REPLIES,
        key=reply.query_id.encode(),
        message=reply,
        headers=wire.reply_headers(reply_to, tenant),
        partition=reply_to.partition,
    )


def since(begin: float, end: float) -> float:
    """Return the milliseconds between two times in seconds, none where clocks disagree."""
    return round(max(0.0, end - begin) * 1000, 2)
