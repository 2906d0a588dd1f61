"""Every instrument, by the name that dashboards and alerts read; no label can have more values than are listed here.

Names follow OpenTelemetry's semantic conventions where they have one (messaging, database and generative-AI metrics).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from schemas.dead_letters import ErrorClass
from schemas.queries import Leg, LegStatus
from schemas.replies import ReplyError
from topics import catalogue as topics

OTHER = "other"  # what a value becomes that is not listed
QUICK = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)  # seconds
SLOW = (0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3600.0)  # seconds
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # texts


@dataclass(frozen=True, kw_only=True)
class Label:
    """A label and all values that it can have; none listed: names that stand in the code, and nothing of a record."""

    name: str
    values: frozenset[str] | None = None

    def bounded(self, value: str) -> str:
        """Return a value as it is told."""
        return value if self.values is None or value in self.values else OTHER


def _label(name: str, values: Iterable[str]) -> Label:
    return Label(name=name, values=frozenset({*values, OTHER}))


PROCESSOR = Label(name="processor")  # of streams/processors/catalogue.py
GROUP = Label(name="messaging.consumer.group.name")  # of the same
OPERATION = Label(name="operation")  # the methods of adapters that are wrapped by streams/telemetry/calls.py
LEG = _label("leg", (*get_args(Leg), "rerank"))
STATUS = _label("status", get_args(LegStatus))
OUTCOME = _label("outcome", ("done", "answered", "dead_lettered", "expired", "given_back"))
RESULT = _label("result", ("answered", "degraded", *get_args(ReplyError)))
CACHE = _label("cache", ("hit", "miss", "off"))
REASON = _label("reason", ("timeout", "error", "overloaded", "fallback", "option", "overtaken"))
TOPIC = _label("topic", [topic.name for topic in topics.ALL])
ERROR_CLASS = _label("error_class", get_args(ErrorClass))
CAUSE = _label("cause", ("store", "model", "broker", "transient"))
SYSTEM = _label("system", ("postgresql", "qdrant", "redis", "embedder", "reranker", "llm"))
CALL = _label("outcome", ("ok", "error", "cancelled"))
KIND = _label("kind", ("queries", "passages", "pairs"))
TOKEN = _label("token_type", ("input", "output"))
LLM_OUTCOME = _label("outcome", ("ok", "error"))
VERSION = _label("status", ("searchable", "deleted", "failed"))
PROBED = _label("outcome", ("passed", "degraded", "failed"))

Kind = Literal["histogram", "counter", "gauge"]


@dataclass(frozen=True, kw_only=True)
class Instrument:
    """A metric: what is told, in which unit, by which labels."""

    name: str
    kind: Kind
    summary: str
    unit: str = ""  # UCUM; in braces what is counted
    labels: tuple[Label, ...] = ()
    read: bool = False  # looked up when it is exported; else recorded as it happens
    bounds: tuple[float, ...] = ()  # of a histogram's buckets

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The labels' names."""
        return tuple(label.name for label in self.labels)

    def bounded(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Return the labels that the instrument has, each with a value that is listed."""
        return {label.name: label.bounded(labels.get(label.name, OTHER)) for label in self.labels}

    @property
    def exported(self) -> frozenset[str]:
        """The names by which Prometheus has it, as the collector's exporter writes them."""
        base = re.sub(r"\W", "_", self.name) + {"s": "_seconds", "1": "_ratio", "By": "_bytes"}.get(self.unit, "")
        if self.kind == "histogram":
            return frozenset(f"{base}_{part}" for part in ("bucket", "sum", "count"))
        return frozenset({f"{base}_total" if self.kind == "counter" else base})


def _histogram(name: str, unit: str, bounds: tuple[float, ...], labels: tuple[Label, ...], summary: str) -> Instrument:
    return Instrument(name=name, kind="histogram", unit=unit, bounds=bounds, labels=labels, summary=summary)


def _counter(name: str, labels: tuple[Label, ...], summary: str, *, unit: str = "", read: bool = False) -> Instrument:
    return Instrument(name=name, kind="counter", unit=unit, labels=labels, read=read, summary=summary)


def _gauge(name: str, unit: str, labels: tuple[Label, ...], summary: str) -> Instrument:
    return Instrument(name=name, kind="gauge", unit=unit, labels=labels, read=True, summary=summary)


# questions
QUESTION_DURATION = _histogram(
    "rankstream.question.duration", "s", QUICK, (RESULT, CACHE), "from the question's arrival to its last reply"
)
CLIENT_DURATION = _histogram(
    "rankstream.client.question.duration", "s", QUICK, (RESULT,), "from the client's send to its outcome, as it sees it"
)
LEG_RESULTS = _counter("rankstream.leg.results", (LEG, STATUS), "how the legs of answered questions ran")
LEG_DURATION = _histogram("rankstream.leg.duration", "s", QUICK, (LEG,), "a leg's own time, as replies tell it")
DEGRADED = _counter("rankstream.degraded", (LEG, REASON), "why answers were degraded")
STALE_HITS = _counter(
    "rankstream.stale_hits.dropped", (LEG,), "hits that were replaced or deleted, dropped by the fence", read=True
)
LATE_RESULTS = _counter(
    "rankstream.late_results", (PROCESSOR,), "leg results that came late or twice, and were dropped", read=True
)
OPEN_JOINS = _gauge("rankstream.joins.open", "{join}", (PROCESSOR,), "questions that wait for their legs")
# documents
FRESHNESS = _histogram("rankstream.freshness", "s", SLOW, (VERSION,), "from a change's record to its receipt")
# every processor
PROCESS_DURATION = _histogram(
    "messaging.process.duration",
    "s",
    QUICK,
    (PROCESSOR, OUTCOME, GROUP, Label(name="messaging.system"), Label(name="messaging.operation.name")),
    "a record's time in a processor, until its outputs were delivered",
)
WAIT = _histogram(
    "rankstream.process.wait", "s", QUICK, (PROCESSOR,), "how long a record was under way before its work began"
)
DEAD_LETTERS = _counter("rankstream.dead_letters", (TOPIC, ERROR_CLASS), "records that were dead-lettered, by source")
RETRIES = _counter("rankstream.retries", (PROCESSOR, CAUSE), "attempts that failed and were tried again")
EXPIRED = _counter("rankstream.expired", (PROCESSOR,), "work whose deadline had passed, dropped", read=True)
REFUSED = _counter("rankstream.refused", (PROCESSOR,), "records refused because too many waited", read=True)
IN_FLIGHT = _gauge("rankstream.records.in_flight", "{record}", (PROCESSOR,), "records in work")
HEAD_OF_LINE = _gauge("rankstream.head_of_line.age", "s", (PROCESSOR,), "how long the oldest record is in work")
TIME_LAG = _gauge(
    "rankstream.time_lag", "s", (PROCESSOR,), "how old the oldest record is that was not finished; 0: nothing to do"
)
STORE_WAIT = _gauge("rankstream.store.wait", "s", (PROCESSOR,), "how long records wait for what is away")
READY = _gauge("rankstream.ready", "", (PROCESSOR,), "1 while a processor can be counted on, else 0")
# stores and models
CALL_DURATION = _histogram(
    "rankstream.call.duration", "s", QUICK, (SYSTEM, OPERATION, CALL), "a call to a store or a model"
)
BATCH_SIZE = _histogram("rankstream.batch.size", "{text}", SIZES, (KIND,), "texts that went through a model together")
BATCH_WAIT = _histogram("rankstream.batch.wait", "s", QUICK, (KIND,), "how long the first text of a batch waited")
BATCH_QUEUE = _gauge("rankstream.batch.queue", "{text}", (KIND,), "texts that wait for a model")
BATCH_REFUSED = _counter("rankstream.batch.refused", (KIND,), "texts that found a model's queue full", read=True)
MODEL_SECONDS = _counter("rankstream.model.busy", (KIND,), "time that models computed", unit="s", read=True)
EMBEDDER_TOKENS = _counter(
    "rankstream.embedder.tokens", (KIND,), "tokens that hosted embedders read, where they say how many", read=True
)
LLM_CALLS = _counter("rankstream.llm.calls", (LLM_OUTCOME,), "answers of the language model", read=True)
LLM_TOKENS = _counter("rankstream.llm.tokens", (TOKEN,), "tokens that the language model read and wrote", read=True)
# the probe, and every process of itself
PROBE_DURATION = _histogram("rankstream.probe.duration", "s", SLOW, (PROBED,), "a run of the probe")
PROBE_FAILURES = _gauge("rankstream.probe.failures", "{run}", (), "runs of the probe that failed in a row, to the last")
PROBE_DEGRADED = _gauge("rankstream.probe.degraded", "s", (), "for how long the probe's answers have been degraded")
PROBE_AGE = _gauge("rankstream.probe.age", "s", (), "since the probe's last run ended")
CODE_DIFFERENCES = _gauge("rankstream.code.differences", "{file}", (), "files that are not as they were released")
MEMORY = _gauge("process.memory.usage", "By", (), "memory that a process has")
CPU = _counter("process.cpu.time", (), "time on the processor", unit="s", read=True)
UPTIME = _gauge("process.uptime", "s", (), "since a process began")
FILES = _gauge("process.open_file_descriptor.count", "{file_descriptor}", (), "files and connections that are open")

ALL: tuple[Instrument, ...] = tuple(each for each in list(globals().values()) if isinstance(each, Instrument))
