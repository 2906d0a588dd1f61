"""Golden bytes: what every released version of every message looks like, full and with as little as it may say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schemas.base import Message
from schemas.chunks import Chunk, ChunkBatch, ChunkVectors, SparseVector, VectorBatch
from schemas.codec import InvalidMessage, decode, encode
from schemas.dead_letters import DeadLetter
from schemas.documents import Document, DocumentChange, DocumentStatus, Receipt
from schemas.fused import Candidate, Fused
from schemas.generate import MESSAGES
from schemas.graph import Entity, Fact, GraphBatch, Overview, Relation
from schemas.queries import Expected, Filters, Hit, LegResult, MinVersion, PreparedQuery, QueryRequest, ReplyTo, Turn
from schemas.query_log import LoggedError, LoggedPassage, LoggedQuestion, LoggedReply
from schemas.replies import Dropped, LegReport, LegScore, Milliseconds, Models, Passage, QueryReply, Summary

FOLDER = Path(__file__).parents[2] / "golden"
FILE = re.compile(r"(?P<message>[A-Z]\w+)\.v(?P<version>\d+)(?P<minimal>\.minimal)?\.json")
BY_NAME = {message.__name__: message for message in MESSAGES}

PARENT = "3f0c7a52-6a0e-5b0f-9a53-0f4f0a8f2b11"
CHILD = "8c5e1d4e-2f0b-5f8e-8b0e-5a2d9a1c7e42"
QUERY_ID = "0193a5f2-7c41-7e52-b1c6-2d8f4e9a0b37"

CHANGE = DocumentChange(
    tenant="acme",
    source="help",
    doc_id="billing/refund-policy",
    version=3,
    title="Refund policy",
    content="# Refund policy\n\n## Annual plans\n\nRefunded in full within 30 days – “no questions asked”.",
    uri="https://help.example/billing/refund-policy",
    language="en",
    agents=("support", "sales"),
    trust="external",
    pinned=("support",),
    tags=("billing", "Rückgabe"),
    metadata={"owner": "finance", "priority": 2, "share": 0.5, "public": True, "reviewer": None},
    updated_at="2026-03-01T09:30:00Z",
)
SMALL_CHANGE = DocumentChange(tenant="acme", doc_id="faq/1", version=0)
PREPARED = PreparedQuery(
    query_id=QUERY_ID,
    ticket="3-1207",
    terms=("annual", "plan", "refund"),
    tenant="acme",
    agent="support",
    text="can an annual plan be refunded?",
    expanded="can an annual plan be refunded? yearly",
    words=(0, 1, 2),
    language="en",
    profile="general",
    generation="g1",
    filters=Filters(sources=("help",), tags=("billing",), directory="billing/", kinds=("document",)),
    deadline=1772357401.5,
    legs=("dense", "fulltext"),
    candidates=30,
    embedder="all-MiniLM-L6-v2-int8",
    carried="money back",
    phrasings=("is there a refund for yearly plans?",),
)
SMALL_PREPARED = PreparedQuery(
    query_id="q1",
    ticket="3-1207",
    terms=("refund",),
    tenant="acme",
    agent=None,
    text="refund",
    language="",
    profile="general",
    generation="g1",
    filters=Filters(),
    deadline=0.0,
    legs=(),
    candidates=1,
)
EXPECTED = Expected(
    query=PREPARED,
    reply_to=ReplyTo(topic="replies", partition=17, correlation_id="AZOl8nxB"),
    top_k=5,
    received=1772357400.01,
    prepared=1772357400.012,
    asked=1772357400.008,
    min_version=(MinVersion(source="help", doc_id="billing/refund-policy", version=3),),
    behind=1,
    explain=True,
    floor=0.25,
    progressive=True,
    skipped={"graph": "off in profile"},
    cache_key="answers:acme:9b74c989",
    rewritten="can an annual plan be refunded? money back",
    reasons=("expansions: no time left",),
    again=True,
    searches=2,
)
SMALL_EXPECTED = Expected(query=SMALL_PREPARED, reply_to=ReplyTo(topic="replies"), top_k=5, received=0.0, prepared=0.0)
PASSAGE = Passage(
    rank=1,
    passage_id=PARENT,
    source="help",
    doc_id="billing/refund-policy",
    version=3,
    kind="document",
    title="Refund policy",
    heading_path=("Refund policy", "Annual plans"),
    uri="https://help.example/billing/refund-policy",
    trust="internal",
    text="Refunded in full within 30 days.",
    score=0.81,
    fused=1 / 64,
    coverage=0.55,
    absolute=0.78,
    boost=0.03,
    legs={"dense": LegScore(rank=1, score=0.78), "fulltext": LegScore(rank=3, score=0.12)},
    evidence=(CHILD,),
    signals={"cosine": 0.78, "coverage": 0.55},
)
PART: dict[str, Any] = {
    "tenant": "acme",
    "source": "help",
    "doc_id": "billing/refund-policy",
    "version": 3,
    "generation": "g1",
}
SMALL_PART: dict[str, Any] = PART | {"part": 0, "parts": 1, "kind": "document", "language": ""}
FULL_PART: dict[str, Any] = PART | {
    "part": 1,
    "parts": 2,
    "kind": "document",
    "language": "en",
    "agents": ("support",),
    "tags": ("billing",),
}
DEAD: dict[str, Any] = {
    "topic": "chunks",
    "partition": 2,
    "offset": 4711,
    "timestamp": 1772357400000,
    "group": "rankstream.embed",
}

FULL: tuple[Message, ...] = (
    CHANGE,
    Document(change=CHANGE, content_hash="9b74c9897bac770ffc029102a200c5de" * 2),
    ChunkBatch(
        **FULL_PART,
        chunks=(
            Chunk(
                id=PARENT, level="parent", heading_path=("Refund policy", "Annual plans"), body="…", parent_id=PARENT
            ),
            Chunk(id=CHILD, level="child", heading_path=(), body="30 days", parent_id=PARENT, embed=False),
        ),
    ),
    VectorBatch(
        **FULL_PART,
        model="all-MiniLM-L6-v2-int8",
        dimension=2,
        vectors=(
            # base64 of the float32 numbers 1 and 0, little-endian
            ChunkVectors(
                id=PARENT,
                level="parent",
                dense="AACAPwAAAAA=",
                sparse=SparseVector(indices=(7, 4294967295), values=(0.5, 1.25)),
                also={"bge-small-en-v1.5": "AACAPwAAAAA="},
                lexical={"bge-m3": SparseVector(indices=(6, 250001), values=(0.25, 0.5))},
            ),
            ChunkVectors(id=CHILD, level="child", dense="AACAPwAAAAA=", sparse=None),
        ),
    ),
    GraphBatch(
        **FULL_PART,
        entities=(
            Entity(key="annual plan", name="annual plans", kind="term", chunk_id=PARENT, mentions=2),
            Entity(key="refund", name="Refund", kind="term", chunk_id=PARENT),
        ),
        relations=(
            Relation(subject="annual plan", object="refund", label="refunded within", chunk_id=PARENT, weight=0.5),
        ),
    ),
    Receipt(**PART, writer="vectors", part=1, error="the model has no vectors"),
    DocumentStatus(**PART, status="failed", chunks=12, reason="the model has no vectors"),
    QueryRequest(
        query_id=QUERY_ID,
        tenant="acme",
        agent="support",
        text="And for annual plans?",
        history=(Turn(role="user", text="Can I get a refund?"), Turn(role="assistant", text="Within 30 days.")),
        profile="support",
        language="en",
        top_k=5,
        filters=Filters(sources=("help",), tags=("billing",), directory="billing/", kinds=("document", "qa")),
        deadline=1772357401.5,
        min_version=(MinVersion(source="help", doc_id="billing/refund-policy", version=3),),
        floor=0.25,
        progressive=True,
        explain=True,
        generation="g2",
        cache=False,
    ),
    PREPARED,
    EXPECTED,
    LegResult(
        query_id=QUERY_ID,
        ticket="3-1207",
        leg="dense",
        status="ok",
        hits=(Hit(chunk_id=CHILD, score=0.78), Hit(chunk_id=PARENT, score=0.5)),
        questions=(Hit(chunk_id=CHILD, score=0.91),),
        lexical=(Hit(chunk_id=PARENT, score=0.21),),
        facts=(Fact(subject="annual plan", label="includes", object="API", chunk_id=PARENT, score=0.5),),
        overviews=(Overview(title="Plans", text="There are two plans.", evidence=(PARENT, CHILD), score=0.5),),
        reason="1 of 2 vectors",
        milliseconds=9.1,
        model="all-MiniLM-L6-v2-int8",
        frequencies=(12, 40, 3),
        counted=264,
    ),
    Fused(
        expected=EXPECTED,
        reply=QueryReply(query_id=QUERY_ID, profile="general", milliseconds=Milliseconds(total=31.2, fuse=3.0)),
        candidates=(
            Candidate(
                passage=PASSAGE,
                text="Refund policy > Annual plans\n\nRefunded in full within 30 days.",
                context="From the refund policy, about annual plans.",
            ),
            Candidate(passage=PASSAGE),
        ),
    ),
    QueryReply(
        query_id=QUERY_ID,
        revision=2,
        degraded=True,
        reasons=("fulltext: timeout",),
        profile="general",
        generation="g1",
        models=Models(embedder="all-MiniLM-L6-v2-int8"),
        cache="miss",
        rewritten="can an annual plan be refunded?",
        stale=True,
        stale_versions=1,
        milliseconds=Milliseconds(total=31.2, prepare=1.9, legs=12.4, fuse=3.0),
        legs={
            "dense": LegReport(status="ok", milliseconds=9.1, candidates=30),
            "graph": LegReport(status="skipped", reason="off in profile"),
        },
        passages=(PASSAGE,),
        pinned=(),
        summary=Summary(
            text="Annual plan includes API.",
            facts=(Fact(subject="annual plan", label="includes", object="API", chunk_id=PARENT),),
            evidence=(CHILD,),
        ),
        dropped=(Dropped(passage_id="p2", rule="floor", legs={"dense": LegScore(rank=2, score=0.2)}),),
    ),
    LoggedQuestion(
        query_id=QUERY_ID,
        tenant="acme",
        at=1772357400.008,
        agent="support",
        text="why is (api key) refused?",
        history=(Turn(role="user", text="Can I get a refund?"),),
        profile="support",
        language="en",
        top_k=5,
        filters=Filters(sources=("help",), tags=("billing",), directory="billing/", kinds=("document", "qa")),
    ),
    LoggedReply(
        query_id=QUERY_ID,
        tenant="acme",
        at=1772357400.04,
        revision=2,
        final=False,
        profile="support",
        generation="g1",
        cache="miss",
        degraded=True,
        reasons=("fulltext: timeout",),
        rewritten="can an annual plan be refunded?",
        milliseconds=31.2,
        legs={"dense": "ok", "fulltext": "timeout"},
        passages=(
            LoggedPassage(
                rank=1, passage_id=PARENT, source="help", doc_id="billing/refund", version=3, kind="document", score=0.5
            ),
        ),
        error=LoggedError(error_class="timeout", message="too late"),
    ),
    DeadLetter(
        **DEAD, error_class="bug", exception="builtins.ZeroDivisionError", message="division by zero", attempts=3
    ),
)
MINIMAL: tuple[Message, ...] = (
    SMALL_CHANGE,
    Document(change=SMALL_CHANGE, content_hash="00"),
    ChunkBatch(**SMALL_PART, chunks=()),
    VectorBatch(**SMALL_PART, model="m", dimension=1, vectors=()),
    GraphBatch(**SMALL_PART, entities=(), relations=()),
    Receipt(**PART, writer="text"),
    DocumentStatus(**PART, status="searchable"),
    QueryRequest(query_id="q1", tenant="acme", text="refund"),
    SMALL_PREPARED,
    SMALL_EXPECTED,
    LegResult(query_id="q1", ticket="0-1", leg="graph", status="empty"),
    Fused(
        expected=SMALL_EXPECTED,
        reply=QueryReply(query_id="q1", milliseconds=Milliseconds(total=0.0)),
        candidates=(),
    ),
    QueryReply(query_id="q1", milliseconds=Milliseconds(total=0.0)),
    LoggedQuestion(query_id="q1", tenant="acme", at=0.0, text="refund"),
    LoggedReply(query_id="q1", tenant="", at=0.0),
    DeadLetter(**DEAD, error_class="decode", exception="E", message="", attempts=1),
)


def files() -> list[Path]:
    """Return all golden files, of all versions."""
    return sorted(path for path in FOLDER.glob("*.json") if FILE.fullmatch(path.name))


def example(path: Path) -> Message:
    """Return the message that a golden file of the current version holds."""
    found = FILE.fullmatch(path.name)
    assert found
    return next(m for m in (MINIMAL if found["minimal"] else FULL) if type(m).__name__ == found["message"])


def required(message: Any) -> Any:
    """Return a message or value as builtins, as a client writes it that leaves out whatever it may."""
    if isinstance(message, msgspec.Struct):
        fields = msgspec.structs.fields(message)
        return {field.encode_name: required(getattr(message, field.name)) for field in fields if field.required}
    return [required(item) for item in message] if isinstance(message, tuple) else message


def test_every_message_has_both_examples_and_both_files() -> None:
    assert [type(message) for message in FULL] == [type(message) for message in MINIMAL] == list(MESSAGES)
    assert {path.name for path in files()} >= {
        f"{message.__name__}.v1{kind}.json" for message in MESSAGES for kind in ("", ".minimal")
    }


@pytest.mark.parametrize("path", files(), ids=lambda path: path.stem)
def test_the_bytes_of_every_released_version_are_still_read(path: Path) -> None:
    found = FILE.fullmatch(path.name)
    assert found
    decode(path.read_bytes(), BY_NAME[found["message"]])


@pytest.mark.parametrize("path", [path for path in files() if ".v1." in path.name], ids=lambda path: path.stem)
def test_golden_bytes_mean_the_example(path: Path) -> None:
    message = example(path)
    assert decode(path.read_bytes(), type(message)) == message


@pytest.mark.parametrize("message", FULL, ids=lambda message: type(message).__name__)
def test_the_full_example_encodes_to_the_golden_bytes(message: Message) -> None:
    assert encode(message) == (FOLDER / f"{type(message).__name__}.v1.json").read_bytes()


@pytest.mark.parametrize("message", MINIMAL, ids=lambda message: type(message).__name__)
def test_whatever_is_optional_may_be_left_out_and_takes_its_default(message: Message) -> None:
    golden = (FOLDER / f"{type(message).__name__}.v1.minimal.json").read_bytes()
    assert msgspec.json.encode(required(message)) == golden
    assert decode(golden, type(message)) == message


@pytest.mark.parametrize("message", FULL, ids=lambda message: type(message).__name__)
def test_fields_that_a_later_release_adds_are_ignored(message: Message) -> None:
    free = ("metadata", "legs", "skipped", "signals", "also", "lexical")  # maps whose keys are data

    def extended(value: Any, more: bool = True) -> Any:
        if isinstance(value, dict):
            added = {"a_later_field": {"deep": [1, None]}} if more else {}
            return added | {name: extended(item, name not in free) for name, item in value.items()}
        return [extended(item) for item in value] if isinstance(value, list) else value

    later = extended(msgspec.json.decode(encode(message)))
    assert decode(msgspec.json.encode(later), type(message)) == message


@pytest.mark.parametrize("message", FULL, ids=lambda message: type(message).__name__)
def test_a_later_version_is_refused_by_the_field_that_says_it(message: Message) -> None:
    field = {f.name: f.encode_name for f in msgspec.structs.fields(message)}["schema_version"]
    later = msgspec.json.decode(encode(message)) | {field: 2}
    with pytest.raises(InvalidMessage, match=f"^{field}: {type(message).__name__} version 2 is not known here"):
        decode(msgspec.json.encode(later), type(message))
