"""What is read whenever metrics are exported: counts that are kept anyway, and how a worker stands now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from streams.domain import vitals
from streams.domain.vitals import Vitals
from streams.runner import Outcome, Runner
from streams.telemetry import instruments as told
from streams.telemetry.processing import label
from streams.telemetry.signals import Reading

STALE = "stale_hits_dropped"


def of_worker(runner: Runner, now: Callable[[], Vitals], deps: Any) -> Iterator[Reading]:
    """Yield how a worker stands, and what its runner and its handler counted."""
    name = {"processor": label(runner.processor)}
    found = now()
    yield told.IN_FLIGHT, found.in_flight, name
    yield told.HEAD_OF_LINE, max(found.oldest or 0.0, found.waiting or 0.0), name
    yield told.TIME_LAG, max(runner.behind(time.time()), found.unread or 0.0, found.unbegun or 0.0), name
    yield told.STORE_WAIT, found.waiting or 0.0, name
    yield told.READY, 0 if vitals.unready(found) else 1, name
    counts = dict(getattr(deps, "counts", None) or {})
    yield told.EXPIRED, runner.outcomes[Outcome.EXPIRED] + counts.get("expired", 0), name
    yield told.REFUSED, runner.overloaded + counts.get("overloaded", 0), name
    for counted, number in counts.items():
        what, _, leg = counted.partition(".")
        if what == STALE:
            yield told.STALE_HITS, number, {"leg": leg or "rerank"}
        elif what == "late or repeated":
            yield told.LATE_RESULTS, number, name
        elif what == "waiting":
            yield told.OPEN_JOINS, number, name


def of_models(opened: Mapping[str, Any]) -> Iterator[Reading]:
    """Yield what embedders, rerankers and language models counted, of what a process has opened."""
    for each in list(opened.values()):
        if isinstance(counts := getattr(each, "counts", None), Mapping):
            for kind, of in counts.items():
                name = {"kind": kind}
                yield told.BATCH_QUEUE, of.queued, name
                yield told.BATCH_REFUSED, of.refused, name
                yield told.MODEL_SECONDS, of.model_seconds, name
        if isinstance(tokens := getattr(each, "tokens", None), Mapping):
            for kind, number in tokens.items():
                yield told.EMBEDDER_TOKENS, number, {"kind": kind}
        if (spent := getattr(getattr(each, "model", None), "spent", None)) is not None:
            yield told.LLM_CALLS, spent.calls, {"outcome": "ok"}
            yield told.LLM_CALLS, spent.failures, {"outcome": "error"}
            yield told.LLM_TOKENS, spent.prompt_tokens, {"token_type": "input"}
            yield told.LLM_TOKENS, spent.completion_tokens, {"token_type": "output"}
