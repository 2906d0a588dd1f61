"""A document and a question through the real pipeline, as a collector has it: traces, metrics, no texts."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from streams.processors import catalogue
from streams.telemetry import calls, instruments, signals
from streams.telemetry.otel import Otel
from tests.otlp import Collector, attributes, collecting
from tests.pipeline import Pipeline, next_version, page

WORD = "quokkaberry"  # of the document's text
ASKED = "zimtstern"  # of the question's
SECRET = "hunter2-of-the-database"
TITLE = "Vorratskammer"


@dataclass(kw_only=True)
class Seen:
    """What the collector had after one document and one question."""

    collector: Collector
    document: list[Any] = field(default_factory=list)  # spans
    question: list[Any] = field(default_factory=list)
    tenant: str = ""


def trace_of(collector: Collector, root: str) -> list[Any]:
    # The first one; spans come as they end.
    found = next(span for span in collector.spans if span.name == root)
    return [span for span in collector.spans if span.trace_id == found.trace_id]


async def complete(collector: Collector, backend: Otel) -> None:
    """Export until nothing more comes: a processor ends its span after its output was delivered, the graph is last."""
    known = -1
    for _ in range(30):
        await asyncio.to_thread(backend.flush)
        there = by_processor(collector.spans)
        if len(collector.spans) == known and {"fuse", "publish-version", "index-graph"} <= there.keys():
            return
        known = len(collector.spans)
        await asyncio.sleep(0.5)


@pytest.fixture(scope="module")
async def seen(pipeline: Pipeline) -> AsyncIterator[Seen]:
    tenant = f"t-{next_version()}"
    with collecting() as collector:
        backend = Otel(collector.url, service="rankstream", sample=1.0, traces_every=200)
        signals.install(backend)
        logging.getLogger().addHandler(backend.handler)
        try:
            change = page(f"{WORD}-page", f"# {TITLE}\n\nThe {WORD} is kept in a cool place.", tenant=tenant)
            await pipeline.publish(change)
            reply = await pipeline.client.ask(f"Where is the {WORD} {ASKED} kept?", tenant=tenant)
            assert reply.error is None
            assert reply.passages
            refused = await pipeline.client.ask(f"Which {WORD} is it?", tenant=tenant, profile="none-such")
            assert refused.error is not None
            logging.getLogger("streams.test").error("cannot connect to postgresql://rank:%s@db:5432/rank", SECRET)
            await complete(collector, backend)
        finally:
            logging.getLogger().removeHandler(backend.handler)
            signals.install(None)
            await asyncio.to_thread(backend.close, 5.0)
        yield Seen(
            collector=collector,
            document=trace_of(collector, "publish"),
            question=trace_of(collector, "ask"),
            tenant=tenant,
        )


def by_processor(spans: list[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for span in spans:
        if (name := attributes(span).get("rankstream.processor")) is not None:
            found.setdefault(name, []).append(span)
    return found


def only(spans: list[Any], name: str) -> Any:
    [found] = [span for span in spans if span.name == name]
    return found


def test_a_question_is_one_trace_in_which_every_processor_is_once(seen: Seen) -> None:
    legs = {processor.name for processor in catalogue.LEGS}
    of = by_processor(seen.question)
    assert {name: len(spans) for name, spans in of.items()} == dict.fromkeys(
        {"prepare", *legs, "fuse", "log-questions", "log-replies"}, 1
    )
    roots = [span for span in seen.question if not span.parent_span_id]
    assert [span.name for span in roots] == ["ask"]


def test_every_parent_of_a_question_s_spans_is_who_caused_it(seen: Seen) -> None:
    of = {name: spans[0] for name, spans in by_processor(seen.question).items()}
    ask, send = only(seen.question, "ask"), only(seen.question, "send queries")
    assert send.parent_span_id == ask.span_id
    assert of["prepare"].parent_span_id == send.span_id
    for processor in catalogue.LEGS:
        assert of[processor.name].parent_span_id == of["prepare"].span_id
    assert of["fuse"].parent_span_id == of["prepare"].span_id
    ids = {span.span_id for span in seen.question}
    assert all(span.parent_span_id in ids for span in seen.question if span is not ask)


def test_fuse_links_to_every_leg_and_the_answer_to_fuse(seen: Seen) -> None:
    of = {name: spans[0] for name, spans in by_processor(seen.question).items()}
    linked = {link.span_id for link in of["fuse"].links}
    assert linked == {of[processor.name].span_id for processor in catalogue.LEGS}
    ask = only(seen.question, "ask")
    assert [link.span_id for link in ask.links] == [of["fuse"].span_id]
    assert [event.name for event in ask.events] == ["reply"]


def test_calls_to_stores_and_models_are_children_of_the_processor_that_made_them(seen: Seen) -> None:
    of = {spans[0].span_id: name for name, spans in by_processor(seen.question).items()}
    made = {(of.get(span.parent_span_id), span.name) for span in seen.question if span.kind == span.SPAN_KIND_CLIENT}
    assert {
        ("prepare", "get redis"),
        ("retrieve-dense", "embed_queries embedder"),
        ("retrieve-dense", "search_dense qdrant"),
        ("retrieve-sparse", "search_sparse qdrant"),
        ("retrieve-fulltext", "search postgresql"),
        ("fuse", "resolve postgresql"),
    } <= made
    assert None not in {processor for processor, _ in made}


def test_a_document_is_one_trace_from_its_publisher_through_every_processor_of_its_lane(seen: Seen) -> None:
    of = by_processor(seen.document)
    lane = {processor.name for processor in catalogue.LIVE}
    assert of.keys() == lane
    assert {name: len(spans) for name, spans in of.items() if name != "publish-version"} == dict.fromkeys(
        lane - {"publish-version"}, 1
    )
    published = of["publish-version"]
    assert len(published) == 2  # a receipt for the text, one for the vectors
    first, last = sorted(published, key=lambda span: len(span.links))
    assert {link.span_id for link in last.links} == {first.parent_span_id}
    writers = {of["index-text"][0].span_id, of["index-vectors"][0].span_id}
    assert {first.parent_span_id, last.parent_span_id} == writers


def test_spans_follow_the_conventions_for_messaging(seen: Seen) -> None:
    for span in [*seen.document, *seen.question]:
        if span.kind == span.SPAN_KIND_CONSUMER:
            said = attributes(span)
            assert span.name == f"process {said['messaging.destination.name']}"
            assert (said["messaging.system"], said["messaging.operation.type"]) == ("kafka", "process")
            assert said["messaging.consumer.group.name"] == f"rankstream.{said['rankstream.processor']}"


def test_metrics_of_every_part_are_there(seen: Seen) -> None:
    names = Counter(name for name, _, _ in seen.collector.points())
    wanted = {
        "messaging.process.duration",
        "rankstream.process.wait",
        "rankstream.question.duration",
        "rankstream.client.question.duration",
        "rankstream.leg.results",
        "rankstream.freshness",
        "rankstream.call.duration",
        "rankstream.batch.size",
        "rankstream.batch.wait",
        "rankstream.batch.queue",
        "rankstream.head_of_line.age",
        "rankstream.time_lag",
        "rankstream.ready",
        "rankstream.expired",
        "rankstream.refused",
        "rankstream.joins.open",
    }
    assert wanted - names.keys() == set()
    assert names.keys() <= {instrument.name for instrument in instruments.ALL}


def test_the_index_was_fresh_within_seconds_and_every_processor_is_ready(seen: Seen) -> None:
    fresh = [point for name, _, point in seen.collector.points() if name == "rankstream.freshness"]
    assert fresh[-1].count > 0
    assert fresh[-1].sum > 0
    told = [(labels, point) for name, labels, point in seen.collector.points() if name == "rankstream.ready"]
    ready = {labels["processor"]: point.as_double for labels, point in told}
    assert {name for name, value in ready.items() if value != 1} == set()
    assert ready.keys() >= {processor.name for processor in catalogue.LIVE + catalogue.QUERY}


def test_questions_are_counted_by_their_result_as_the_pipeline_and_as_its_client_see_it(seen: Seen) -> None:
    for metric in ("rankstream.question.duration", "rankstream.client.question.duration"):
        results = {labels["result"] for name, labels, _ in seen.collector.points() if name == metric}
        assert results in ({"answered", "validation"}, {"degraded", "validation"})


def test_no_label_has_a_value_that_is_not_listed(seen: Seen) -> None:
    known = {each.name: {label.name: label.values for label in each.labels} for each in instruments.ALL}
    names = {
        "processor": {processor.name for processor in catalogue.ALL},
        "operation": calls.OPERATIONS,
        "messaging.consumer.group.name": {processor.group for processor in catalogue.ALL},
        "messaging.system": {"kafka"},
        "messaging.operation.name": {"process"},
    }
    for name, labels, _ in seen.collector.points():
        assert labels.keys() == known[name].keys()
        for label, value in labels.items():
            values = known[name][label]
            assert value in (names[label] if values is None else values), (name, label, value)


def test_a_log_line_is_there_with_its_secret_hidden(seen: Seen) -> None:
    lines = {line.body.string_value: line for line in seen.collector.logs}
    assert [body for body in lines if body.startswith("cannot connect to postgresql://rank:(hidden)@db:5432")]
    [refused] = [line for body, line in lines.items() if "answered with an error" in body]
    assert attributes(refused)["processor"] == "prepare"
    assert refused.trace_id in {span.trace_id for span in seen.collector.spans}


def test_no_text_no_id_and_no_secret_leaves(seen: Seen) -> None:
    for body in seen.collector.bodies:
        for word in (WORD, ASKED, TITLE, SECRET, seen.tenant):
            assert word.encode() not in body
