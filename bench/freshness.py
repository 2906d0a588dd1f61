"""freshness: how soon an edit is found and a deleted page is gone, while nothing else is going on."""

from __future__ import annotations

import asyncio
import time

import msgspec

from bench import corpus, system
from bench.figures import Figure, spread
from schemas.documents import DocumentChange
from streams.errors import RankstreamError

REPETITIONS = 30
WITHIN = 30.0  # seconds


async def measure() -> list[Figure]:
    """Edit and delete a page, once waiting for the receipt and once asking until the change shows."""
    took: dict[str, list[float]] = {
        "edit → receipt": [],
        "edit → found by asking": [],
        "delete → receipt": [],
        "delete → gone by asking": [],
    }
    async with system.running() as running:
        await running.publish(corpus.demo_pages())
        for number in range(-2, REPETITIONS):
            for by_asking in (False, True):
                edited = _edited(number, by_asking=by_asking)
                deleted = corpus.page(edited.doc_id, "", source=edited.source)
                deleted = msgspec.structs.replace(deleted, op="delete", title="")
                for name, change in (("edit → ", edited), ("delete → ", deleted)):
                    seconds = await (_asking if by_asking else _receipt)(running, change)
                    key = next(key for key in took if key.startswith(name) and key.endswith("asking") == by_asking)
                    if number >= 0:
                        took[key].append(seconds * 1000)
    return [figure for name, values in took.items() for figure in spread(name, values)]


def _edited(number: int, *, by_asking: bool) -> DocumentChange:
    doc_id = f"page-{number}-{by_asking}"
    return corpus.page(doc_id, f"# Notice {number}\n\nThe word of the day is {_word(doc_id)}.", source="fresh")


def _word(doc_id: str) -> str:
    return "zq" + "".join(chr(ord("a") + ord(letter) % 26) for letter in doc_id)


async def _receipt(running: system.System, change: DocumentChange) -> float:
    began = time.perf_counter()
    status = await running.client.publish(change, wait=True, timeout=WITHIN)
    seconds = time.perf_counter() - began
    if await _found(running, change) != (change.op == "upsert"):
        raise RankstreamError(f"the receipt {status} came before the change showed")
    return seconds


async def _asking(running: system.System, change: DocumentChange) -> float:
    began = time.perf_counter()
    await running.client.publish(change)
    while await _found(running, change) != (change.op == "upsert"):
        if time.perf_counter() - began > WITHIN:
            raise RankstreamError(f"{change.doc_id} did not change within {WITHIN:.0f} s")
        await asyncio.sleep(0)
    return time.perf_counter() - began


async def _found(running: system.System, change: DocumentChange) -> bool:
    reply = await running.client.ask(f"word of the day {_word(change.doc_id)}", tenant=corpus.TENANT, cache=False)
    return any(passage.doc_id == change.doc_id for passage in reply.passages)
