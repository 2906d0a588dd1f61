"""What is kept of questions and answers: two records with one query id, without secrets and texts of documents."""

from __future__ import annotations

from schemas.base import Message, Value
from schemas.documents import Kind
from schemas.queries import Filters, LegStatus, Turn
from schemas.replies import ReplyError


class LoggedQuestion(Message, tag=True, rename={"schema_version": "version"}, frozen=True, kw_only=True):
    """A question as it was asked; its texts are masked and cut."""

    schema_version: int = 1
    query_id: str
    tenant: str
    at: float  # seconds since the epoch, by the broker's clock
    agent: str | None = None
    text: str
    history: tuple[Turn, ...] = ()  # the last turns
    profile: str = ""
    language: str | None = None
    top_k: int | None = None
    filters: Filters = Filters()


class LoggedPassage(Value, frozen=True, kw_only=True):
    """A passage of an answer, by its ids: its text would outlive the deletion of its document."""

    rank: int
    passage_id: str
    source: str
    doc_id: str
    version: int
    kind: Kind | str
    score: float


class LoggedError(Value, rename={"error_class": "class"}, frozen=True, kw_only=True):
    """Why there was no answer; the message is masked."""

    error_class: ReplyError
    message: str


class LoggedReply(Message, tag=True, rename={"schema_version": "version"}, frozen=True, kw_only=True):
    """What a question was answered with, and how the search ran; one a revision."""

    schema_version: int = 1
    query_id: str
    tenant: str  # empty where the question could not be read
    at: float  # seconds since the epoch
    revision: int = 1
    final: bool = True
    profile: str = ""
    generation: str = ""
    cache: str = "off"
    degraded: bool = False
    reasons: tuple[str, ...] = ()  # masked
    rewritten: str | None = None  # masked
    milliseconds: float = 0.0
    legs: dict[str, LegStatus] = {}
    passages: tuple[LoggedPassage, ...] = ()
    error: LoggedError | None = None
