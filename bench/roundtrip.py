"""roundtrip: a question over the bus against the same handlers called directly, and where its milliseconds go."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator

from bench import corpus, direct, system
from bench.figures import Figure, Promise, median, percentile, spread
from schemas.replies import QueryReply
from streams.errors import RankstreamError

CHUNKS = 1_500
WARM_UP = 30
QUESTIONS = 200
CLIENTS = (4, 16)
QUESTIONS_UNDER_LOAD = 240

Ask = Callable[[str], Awaitable[QueryReply]]


async def measure() -> list[Figure]:
    """Index once, then ask each question on all three ways, the order of the ways changing."""
    asked = corpus.questions()
    async with system.running() as running, direct.opened(running.settings) as without_bus:
        chunks = await running.fill(CHUNKS)
        ways: dict[str, Ask] = {
            "bus": lambda text: running.client.ask(text, tenant=corpus.TENANT, cache=False),
            "direct": lambda text: without_bus.ask(text, at_once=False),
            "direct, legs at once": lambda text: without_bus.ask(text, at_once=True),
        }
        took: dict[str, list[float]] = {name: [] for name in ways}
        replies: list[QueryReply] = []
        for number in range(WARM_UP + QUESTIONS):
            for position in range(len(ways)):
                name = list(ways)[(number + position) % len(ways)]
                milliseconds, reply = await _timed(ways[name], next(asked))
                if number >= WARM_UP:
                    took[name].append(milliseconds)
                    if name == "bus":
                        replies.append(reply)
        figures = [Figure(name="index", value=chunks, unit="chunks", note=f"broker {running.broker}")]
        figures += spread("a question over the bus", took["bus"], p95=Promise(bound=150))
        for name in ("direct", "direct, legs at once"):
            figures += spread(name, took[name])
        figures += _ratios(took)
        figures += _breakdown(took["bus"], replies)
        for clients in CLIENTS:
            figures += await _under_load("bus", ways["bus"], clients, asked)
            figures += await _under_load("direct, legs at once", ways["direct, legs at once"], clients, asked)
    return figures


async def _timed(ask: Ask, text: str) -> tuple[float, QueryReply]:
    began = time.perf_counter()
    reply = await ask(text)
    if reply.error is not None:
        raise RankstreamError(f"{text}: {reply.error.message}")
    return (time.perf_counter() - began) * 1000, reply


def _ratios(took: dict[str, list[float]]) -> list[Figure]:
    bus = median(took["bus"])
    return [
        Figure(
            name=f"bus / {name}",
            value=bus / median(took[name]),
            unit="×",
            promise=Promise(bound=3) if name == "direct" else None,
            note="of medians, same run",
        )
        for name in ("direct", "direct, legs at once")
    ]


def _breakdown(took: list[float], replies: list[QueryReply]) -> list[Figure]:
    """Split the time of each question: its own work, as the reply reports it; all else is the way between."""
    parts: dict[str, list[float]] = defaultdict(list)
    for total, reply in zip(took, replies, strict=True):
        legs = {leg: report.milliseconds or 0.0 for leg, report in reply.legs.items()}
        slowest = max(legs.values())
        prepare, joined, fuse = (getattr(reply.milliseconds, name) or 0.0 for name in ("prepare", "legs", "fuse"))
        parts["prepare"].append(prepare)
        for leg, milliseconds in legs.items():
            parts[f"leg {leg}"].append(milliseconds)
        parts["slowest leg"].append(slowest)
        parts["fuse"].append(fuse)
        parts["hops prepare → leg → fuse"].append(joined - slowest)
        parts["hops client → prepare, fuse → client"].append(total - prepare - joined - fuse)
    return [
        Figure(name=f"of it: {name}", value=median(values), unit="ms", note="median") for name, values in parts.items()
    ]


async def _under_load(name: str, ask: Ask, clients: int, asked: Iterator[str]) -> list[Figure]:
    """Ask with so many questions under way at any time."""
    took: list[float] = []
    degraded = 0

    async def one_client() -> None:
        nonlocal degraded
        for _ in range(QUESTIONS_UNDER_LOAD // clients):
            milliseconds, reply = await _timed(ask, next(asked))
            took.append(milliseconds)
            degraded += reply.degraded

    began = time.perf_counter()
    await asyncio.gather(*(one_client() for _ in range(clients)))
    rate = len(took) / (time.perf_counter() - began)
    label = f"{name}, {clients} clients"
    return [
        Figure(name=f"{label}, p50", value=median(took), unit="ms"),
        Figure(name=f"{label}, p95", value=percentile(took, 0.95), unit="ms"),
        Figure(name=f"{label}, rate", value=rate, unit="questions/s", note=f"{degraded} of {len(took)} degraded"),
    ]
