"""Errors as answers: problem+json, a status, and headers that say when to come again (RFC 9457, RFC 9110)."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from schemas.replies import ErrorInfo
from streams.errors import (
    ConfigurationError,
    Forbidden,
    Invalid,
    NoReply,
    RankstreamError,
    Transient,
    Unauthenticated,
)
from streams.gateways.http.contracts import Problem

MEDIA_TYPE = "application/problem+json"
TYPE = "https://rankstream.dev/problems/{}"
AGAIN = 2  # seconds after which what is away may be back


class Refused(RankstreamError):
    """A request that is answered with a status of its own."""

    def __init__(self, status: int, detail: str, *, retry_after: float | None = None, fix: str | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.retry_after = retry_after
        self.fix = fix


# By status: the name of the kind, its title, and what to do about it.
_KINDS = {
    400: ("invalid", "The request is wrong", "mend what `detail` says and send it again"),
    401: ("unauthenticated", "No good key", "send `Authorization: Bearer KEY`; `rankstream keys create` makes a key"),
    403: ("forbidden", "The key may not do this", "use a key that may; `rankstream keys create` makes one"),
    404: ("not-found", "There is no such thing", "check the source and the id; deleted documents are not shown"),
    405: ("method", "The method is not for this path", "use one of the methods that the header Allow names"),
    408: ("slow", "The body did not come in time", "send the body without long pauses"),
    413: ("too-large", "The body is too large", "send less at once; split large documents"),
    415: ("media-type", "The content type is not read", "send application/json, or a document's text as text/markdown"),
    422: ("failed", "The version failed", "mend what `detail` says and send a higher version"),
    429: ("too-many", "Too many requests for this key", "wait as long as Retry-After says"),
    500: ("internal", "Something broke here", "tell whoever runs this gateway"),
    503: ("unavailable", "Something is away or overloaded", "wait as long as Retry-After says and send it again"),
    504: ("no-reply", "No reply came in time", "ask again, with a longer timeout"),
}
STATUSES = tuple(_KINDS)
_OF_ERROR = {Unauthenticated: 401, Forbidden: 403, NoReply: 504}  # all else that is told is 400
_OF_REPLY = {"validation": 400, "timeout": 504, "no reply": 504, "overloaded": 503, "fence unavailable": 503}


def problem(
    status: int, detail: str, *, field: str | None = None, fix: str | None = None, query_id: str | None = None
) -> Problem:
    """Return a problem of a kind that a status stands for."""
    name, title, usual = _KINDS.get(status, _KINDS[400 if status < 500 else 500])
    return Problem(
        type=TYPE.format(name),
        title=title,
        status=status,
        detail=detail,
        field=field,
        fix=fix or usual,
        query_id=query_id,
    )


def of_error(error: Exception) -> Problem:
    """Return what an error says to whoever asked; of what nobody foresaw, nothing."""
    field = getattr(error, "field", None)
    match error:
        case Refused():
            return problem(error.status, str(error), fix=error.fix)
        case Invalid() | Unauthenticated() | Forbidden() | NoReply():
            return problem(_OF_ERROR.get(type(error), 400), str(error), field=field)
        case Transient() | ConfigurationError():  # the latter is a server that does not answer when it is first needed
            return problem(503, _public(error))
        case _:
            return problem(500, "an error that nobody foresaw; the log has it")


def of_reply(error: ErrorInfo, query_id: str) -> Problem:
    """Return the error of a reply."""
    status = _OF_REPLY.get(error.error_class, 500)
    if error.error_class == "no reply" and "broker" in error.message:
        status = 503
    detail = f"{error.field}: {error.message}" if error.field else error.message
    return problem(status, detail, field=error.field, query_id=query_id)


def answer(found: Problem, *, retry_after: float | None = None, headers: dict[str, str] | None = None) -> Response:
    """Return a problem as a response."""
    said = dict(headers or {})
    if found.status == 401:
        said["WWW-Authenticate"] = 'Bearer realm="rankstream"'
    if found.status in (429, 503):
        said["Retry-After"] = str(max(1, round(AGAIN if retry_after is None else retry_after)))
    return Response(msgspec.json.encode(found), found.status, said, media_type=MEDIA_TYPE)


def respond(error: Exception) -> Response:
    """Return the response for an error."""
    return answer(of_error(error), retry_after=getattr(error, "retry_after", None))


def _public(error: Exception) -> str:
    """Return what may be told of an outside system: which one, not where it stands."""
    text = str(error)
    if "postgres" in text:
        return "the database does not answer"
    return "the broker does not answer" if "broker" in text else "a part of the system does not answer"
