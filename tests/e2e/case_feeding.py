"""Feeds a case through the running pipeline: its events in order, its questions when they are due."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
from psycopg.rows import DictRow
from qdrant_client import AsyncQdrantClient, models

from schemas import codec, dead_letters
from schemas.chunks import Chunk, VectorBatch, chunk_text
from schemas.documents import DocKey, DocumentStatus
from schemas.replies import QueryReply
from streams.adapters import postgres, profiles
from streams.adapters.passages import PostgresPassages
from streams.adapters.postgres_generations import PostgresGenerations
from streams.adapters.qdrant import QdrantVectors
from streams.domain.profile import Profile
from streams.gateways.questions import new_id
from streams.settings import POSTGRES, need
from tests.e2e.case_files import SOURCE, Case, Event, Question, own_tenants
from tests.e2e.case_outcomes import Answer, Outcome, Stored, Work
from tests.e2e.wiretap import Wiretap
from tests.pipeline import Pipeline
from topics import catalogue

SETTLED = 120.0  # seconds in which an event must have its receipt or be a dead letter; a busy machine embeds slowly
ALLOWED = 10.0  # seconds for a question; how fast answers are is not asked here
GRACE = 1.0  # seconds beyond that for which a reply is looked out for

# What the statements of `profile: each` were written for. `support` keeps the limits of its reference (texts cut at
# 1,000 characters, places for one word), so it answers for the promises that hold for any profile.
_ANY = frozenset({"chunking", "retrieval", "scoring", "lifecycle", "tenancy", "robustness", "injection"})
_EACH = {"general": _ANY, "knowledge-base": _ANY, "support": _ANY - {"chunking", "retrieval", "scoring"}}
# Cases that look for a text behind the limits that a profile keeps: the start of a passage is all that is shown.
_LIMITS = {("one-word-longer-than-a-chunk", "support")}


@dataclass(frozen=True, kw_only=True)
class Sent:
    """An event on its way, and the document's chunks before it."""

    event: Event
    trace: str
    before: tuple[Chunk, ...]
    after: tuple[Chunk, ...]


@dataclass(frozen=True, kw_only=True)
class Feeder:
    """The pipeline, and what is needed to look into it."""

    pipeline: Pipeline
    tap: Wiretap
    pool: postgres.Pool
    qdrant: AsyncQdrantClient
    generation: str

    async def run(self, case: Case) -> Outcome:
        """Feed a case under tenants of its own and return what became of it."""
        case = own_tenants(case)
        known = profiles.shipped()
        sent: list[Sent] = []
        answers: list[Answer] = []
        for settled in range(len(case.documents) + 1):
            if settled:
                sent.append(await self._event(case.documents[settled - 1]))
            for number, question in enumerate(case.queries):
                if settled == (len(case.documents) if question.after is None else question.after):
                    for name in asked_under(case, question, known):
                        answers.append(await self._answer(number, question, known[name]))
        await self.tap.caught_up()
        letters = {each.trace: self._letters(each.trace) for each in sent}
        return Outcome(
            case=case,
            answers=tuple(answers),
            documents=tuple([await self._stored(key, sent, letters) for key in _keys(case)]),
            work={number: self._work(each) for number, each in enumerate(sent, start=1)},
            dead_letters=tuple(f"{topic}: {kind}" for found in letters.values() for topic, kind in found),
            ids=self._ids(sent),
        )

    async def _event(self, event: Event) -> Sent:
        key = DocKey(tenant=event.tenant, source=SOURCE, doc_id=event.doc_id)
        before = await self._chunks(key)
        trace = await self.tap.send(
            catalogue.DOCUMENT_CHANGES,
            catalogue.document_key(event.tenant, SOURCE, event.doc_id),
            msgspec.json.encode(_change(event)),
        )
        settles = (catalogue.DOCUMENT_STATUS, catalogue.DOCUMENT_CHANGES.dead_letters)
        await self.tap.until(
            lambda: self.tap.records(trace, settles), seconds=SETTLED, doing=f"{event.doc_id} version {event.version}"
        )
        return Sent(event=event, trace=trace, before=before, after=await self._chunks(key))

    async def _answer(self, number: int, question: Question, profile: Profile) -> Answer:
        fields: dict[str, Any] = {"profile": profile.name, "language": question.language, "top_k": question.top_k}
        began = time.monotonic()
        reply = await self.pipeline.client.ask(
            question.text, tenant=question.tenant, timeout=ALLOWED, query_id=new_id(time.time()), **fields
        )
        seconds = time.monotonic() - began
        if reply.error is not None and reply.error.error_class == "validation":
            # The client may have refused it by itself; another language's client would have sent it.
            began = time.monotonic()
            reply = await self._past_the_client(question, fields)
            seconds = time.monotonic() - began
        return Answer(
            query=number, profile=profile, tenant=question.tenant, reply=reply, seconds=seconds, allowed=ALLOWED
        )

    async def _past_the_client(self, question: Question, fields: dict[str, Any]) -> QueryReply:
        query_id = new_id(time.time())
        given = fields | {"query_id": query_id, "tenant": question.tenant, "text": question.text}
        body = {name: value for name, value in given.items() if value is not None} | {"deadline": time.time() + ALLOWED}
        trace = await self.tap.send(catalogue.QUERIES, query_id.encode(), msgspec.json.encode(body), reply=True)
        (record,) = await self.tap.until(
            lambda: self.tap.records(trace, [catalogue.REPLIES]), seconds=ALLOWED + GRACE, doing="a reply"
        )
        return codec.decode(record.value, QueryReply)

    async def _chunks(self, key: DocKey) -> tuple[Chunk, ...]:
        views = await PostgresPassages(pool=self.pool).describe(key, self.generation)
        return next((view.chunks for view in views if view.state == "live"), ())

    async def _stored(self, key: DocKey, sent: list[Sent], letters: dict[str, list[tuple[str, str]]]) -> Stored:
        views = await PostgresPassages(pool=self.pool).describe(key, self.generation)
        live = next((view for view in views if view.state == "live"), None)
        rows = await self._rows(key)
        points = await self._points(key)
        mine = [each for each in sent if (each.event.tenant, each.event.doc_id) == (key.tenant, key.doc_id)]
        statuses = [
            codec.decode(record.value, DocumentStatus)
            for each in mine
            for record in self.tap.records(each.trace, [catalogue.DOCUMENT_STATUS])
        ]
        inbox = catalogue.DOCUMENT_CHANGES.dead_letters.name
        shown = next((e.event for e in mine if live and e.event.version == live.version), mine[-1].event)
        return Stored(
            tenant=key.tenant,
            doc_id=key.doc_id,
            title=shown.title,
            trust=shown.trust,
            live_version=live.version if live else None,
            chunks=live.chunks if live else (),
            texts=tuple(chunk_text(tuple(row["heading_path"]), row["body"]) for row in rows),
            ghosts=tuple(sorted(points - {row["chunk_id"] for row in rows})),
            receipts=tuple(statuses),
            dead_letters=tuple(kind for each in mine for topic, kind in letters[each.trace] if topic == inbox),
        )

    async def _rows(self, key: DocKey) -> list[DictRow]:
        """Return every chunk row of a document, of any version and generation, live or not."""
        statement = """
            SELECT c.chunk_id::text, c.heading_path, c.body FROM chunks c JOIN documents d ON d.id = c.document
            WHERE d.tenant = %(tenant)s AND d.source = %(source)s AND d.doc_id = %(doc_id)s
        """
        async with postgres.transaction(self.pool, "read chunk rows") as connection:
            cursor = await connection.execute(statement, msgspec.structs.asdict(key))
            return await cursor.fetchall()

    async def _points(self, key: DocKey) -> set[str]:
        must = [
            models.FieldCondition(key=field, match=models.MatchValue(value=value))
            for field, value in msgspec.structs.asdict(key).items()
        ]
        collection = QdrantVectors(client=self.qdrant).collection(self.generation)
        points, _ = await self.qdrant.scroll(
            collection, scroll_filter=models.Filter(must=list(must)), limit=10_000, with_payload=False
        )
        return {str(point.id) for point in points}

    def _batches(self, trace: str) -> list[VectorBatch]:
        return [codec.decode(each.value, VectorBatch) for each in self.tap.records(trace, [catalogue.VECTORS])]

    def _work(self, sent: Sent) -> Work:
        def contents(chunks: tuple[Chunk, ...]) -> Counter[tuple[str, str]]:
            return Counter((chunk.level, chunk.text) for chunk in chunks)

        return Work(
            embedded=sum(len(batch.vectors) for batch in self._batches(sent.trace)),
            changed=(contents(sent.after) - contents(sent.before)).total(),
        )

    def _letters(self, trace: str) -> list[tuple[str, str]]:
        return [
            (record.topic, dict(record.headers)[dead_letters.ERROR_CLASS].decode())
            for record in self.tap.records(trace, catalogue.DEAD_LETTERS)
        ]

    def _ids(self, sent: list[Sent]) -> dict[str, frozenset[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for each in sent:
            for batch in self._batches(each.trace):
                found[batch.tenant].update(vectors.id for vectors in batch.vectors)
        return {tenant: frozenset(ids) for tenant, ids in found.items()}


@asynccontextmanager
async def feeding(pipeline: Pipeline) -> AsyncIterator[Feeder]:
    """Open what a feeder needs of a running pipeline."""
    pool = await postgres.open_pool(need(pipeline.settings.postgres, POSTGRES), size=2)
    qdrant = AsyncQdrantClient(url=pipeline.settings.qdrant, check_compatibility=False)
    try:
        generation = (await PostgresGenerations(pool=pool).live()).id
        async with Wiretap(pipeline.settings.kafka or "") as tap:
            yield Feeder(pipeline=pipeline, tap=tap, pool=pool, qdrant=qdrant, generation=generation)
    finally:
        await qdrant.close()
        await pool.close()


def asked_under(case: Case, question: Question, known: Collection[str]) -> list[str]:
    """Return the profiles, of those that exist, that a question is asked under."""
    each = [name for name, kinds in _EACH.items() if case.kind in kinds and (case.name, name) not in _LIMITS]
    return [name for name in (each if question.profile == "each" else [question.profile]) if name in known]


def _keys(case: Case) -> list[DocKey]:
    pairs = dict.fromkeys((event.tenant, event.doc_id) for event in case.documents)
    return [DocKey(tenant=tenant, source=SOURCE, doc_id=doc_id) for tenant, doc_id in pairs]


def _change(event: Event) -> dict[str, Any]:
    """Return the fields of a DocumentChange as JSON has them; a deletion has no content."""
    fields = {name: getattr(event, name) for name in Event.__struct_fields__ if name != "generate"}
    if event.op == "delete":
        fields = {name: fields[name] for name in ("doc_id", "tenant", "version", "op", "kind")}
    return {"name": "DocumentChange", "source": SOURCE, **{k: v for k, v in fields.items() if v is not None}}
