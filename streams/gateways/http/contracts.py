"""What goes over HTTP, as types: requests are read by them, and OpenAPI is made of them."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from schemas import codec
from schemas.base import Agent, DocId, Metadata, Source, Tenant, Value, Version
from schemas.documents import Content, ContentType, DocumentChange, Kind, Language, Op, Tag, Title, Trust
from schemas.queries import MAX_QUESTION, MAX_TOP_K, Filters, MinVersion, QueryRequest, Turn
from streams.domain import changes
from streams.errors import Invalid
from streams.gateways import wording

T = TypeVar("T", bound=msgspec.Struct)

SHORTEST, LONGEST = 0.05, 60.0  # seconds that a question may wait
LONGEST_WAIT = 120.0  # seconds that `?wait=searchable` may wait

_UNKNOWN = re.compile("Object contains unknown field `(.*)`$")

Given = Annotated[Tenant | None, msgspec.Meta(description="may be given, and must be the key's")]


class Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question. The tenant is the key's; the question's id is the gateway's, so that nobody waits under another's."""

    text: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_QUESTION)]
    tenant: Given = None
    agent: Agent | None = None
    history: Annotated[tuple[Turn, ...], msgspec.Meta(max_length=100)] = ()
    profile: Annotated[str, msgspec.Meta(pattern="^[a-z0-9-]+$", max_length=64)] = "general"
    language: Language | None = None
    top_k: Annotated[int, msgspec.Meta(ge=1, le=MAX_TOP_K)] | None = None
    filters: Filters = Filters()
    min_version: Annotated[tuple[MinVersion, ...], msgspec.Meta(max_length=100)] = ()
    floor: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    explain: bool = False
    generation: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    cache: bool = True
    progressive: bool = False  # server-sent events, one a revision
    timeout: Annotated[float, msgspec.Meta(ge=SHORTEST, le=LONGEST, description="seconds")] = 5.0


class DocumentBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A version of a document. What the path or the key says may be repeated, and must agree."""

    tenant: Given = None
    source: Source | None = None
    doc_id: DocId | None = None
    version: Version | None = None  # absent: the header Document-Version, else microseconds since 1970
    kind: Kind = "document"
    title: Title = ""
    content: Content = ""
    content_type: ContentType = "text/markdown"
    question: Title = ""
    answer: Content = ""
    uri: Annotated[str, msgspec.Meta(max_length=4_000)] = ""
    language: Language | None = None
    agents: tuple[Agent, ...] = ()
    trust: Trust = "internal"
    pinned: tuple[Agent, ...] = ()
    tags: tuple[Tag, ...] = ()
    metadata: Metadata = {}
    updated_at: str | None = None


class Line(DocumentBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of the bulk endpoint: a version of a document, or its deletion."""

    source: Source = "default"
    doc_id: DocId
    op: Op = "upsert"


class Published(Value, frozen=True, kw_only=True):
    """The broker has the change; whether it is searchable yet is not known."""

    source: Source
    doc_id: DocId
    version: Version
    status: Literal["published"] = "published"


class Settled(Value, frozen=True, kw_only=True):
    """What became of the change; a higher version than the one sent has replaced it."""

    source: Source
    doc_id: DocId
    version: Version
    status: Literal["searchable", "deleted"]
    chunks: int


class Problem(Value, omit_defaults=True, frozen=True, kw_only=True):
    """What is wrong, as RFC 9457 says it, with the field and the way out."""

    type: str
    title: str
    status: int
    detail: str
    field: str | None = None
    fix: str | None = None
    query_id: str | None = None


class LineResult(Value, omit_defaults=True, frozen=True, kw_only=True):
    """What became of a line, in the order of the lines."""

    line: int  # from 1
    source: str | None = None
    doc_id: str | None = None
    version: int | None = None
    status: Literal["published", "searchable", "deleted"] | None = None
    chunks: int | None = None
    problem: Problem | None = None


class Part(Value, frozen=True, kw_only=True):
    """A passage of a document, as it is indexed; a hit names it by its id."""

    passage_id: str
    heading_path: tuple[str, ...]
    text: str


class Document(Value, frozen=True, kw_only=True):
    """The live version of a document; its text is that of its passages, in reading order."""

    source: Source
    doc_id: DocId
    version: Version
    kind: Kind
    title: str
    uri: str
    trust: Trust
    language: str
    tags: tuple[str, ...]
    updated_at: str | None
    text: str
    passages: tuple[Part, ...]


class ProcessorLag(Value, frozen=True, kw_only=True):
    """How far a processor is behind."""

    processor: str
    records: int | None
    state: str


class Status(Value, omit_defaults=True, frozen=True, kw_only=True):
    """What a tenant has, and for its admins how the system does."""

    tenant: Tenant
    generation: str
    documents: int
    chunks: int
    servers: dict[str, str] | None = None  # by name: ok, or what is wrong
    processors: tuple[ProcessorLag, ...] | None = None


class Health(Value, frozen=True, kw_only=True):
    """Whether this gateway lives, or takes requests."""

    ok: bool
    problems: tuple[str, ...] = ()


SHAPES: tuple[Any, ...] = (
    Question,
    DocumentBody,
    Line,
    Published,
    Settled,
    Problem,
    LineResult,
    Document,
    Status,
    Health,
)


def read(data: bytes, shape: type[T]) -> T:
    """Return the JSON of a request as one of these types; raise Invalid that names the field and the way out."""
    try:
        return codec.decode(data, shape)  # type: ignore[type-var]  # the types of HTTP are no messages
    except codec.InvalidMessage as error:
        if unknown := _UNKNOWN.match(error.message):
            there = ", ".join(field.encode_name for field in msgspec.structs.fields(shape))
            raise Invalid(f"is not known here; there are {there}", field=unknown[1]) from error
        try:
            given = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            given = None
        raise wording.invalid(error, given if isinstance(given, dict) else {}) from error


def change(body: DocumentBody, *, tenant: str, source: str, doc_id: str, version: int, op: Op) -> DocumentChange:
    """Return the change that a body means; raise Invalid for a pair without a question, and the like."""
    fields = {name: getattr(body, name) for name in DocumentBody.__struct_fields__}
    fields |= {"tenant": tenant, "source": source, "doc_id": doc_id, "version": version, "op": op}
    found = DocumentChange(**fields)
    # Found here, it is an answer to the request and not a dead letter; the text itself is not looked at.
    changes.normalised(msgspec.structs.replace(found, content=""))
    return found


def agree(field: str, given: Any, known: Any) -> None:
    """Raise Invalid where a body says something else than the path, a header or the key."""
    if given is not None and given != known:
        raise Invalid(f"the body says {given!r}, but the request is about {known!r}; leave it out", field=field)


def seconds(text: str | None, default: float, field: str) -> float:
    """Read a number of seconds from a query string."""
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= LONGEST_WAIT:
        raise Invalid(f"must be a number of seconds above 0, at most {LONGEST_WAIT:g}", field=field)
    return value


# The fields of a question that travel as they are.
ASKED = tuple(name for name in Question.__struct_fields__ if name in QueryRequest.__struct_fields__)
