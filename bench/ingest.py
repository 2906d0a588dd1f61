"""ingest: chunks a second from publish to receipt, against the embedder alone on the very same texts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence

from bench import corpus, system
from bench.figures import Figure, Promise, median
from schemas.documents import DocumentChange
from streams.adapters.onnx_embedder import OnnxMiniLM
from streams.domain import changes, chunking
from streams.processors.chunk import MOST_CHUNKS

ROUNDS = 4
PAGES = 24  # a round
TOGETHER = 64  # texts that the embedder takes at once, as streams.adapters.onnx_embedder sets it


async def measure() -> list[Figure]:
    """Index new pages, and embed their chunks with nothing around the model; several times, in changing order."""
    model = await asyncio.to_thread(OnnxMiniLM)
    source = corpus.pages(1_000_000)
    pipeline: list[float] = []
    alone: list[float] = []
    async with system.running() as running:
        await running.publish([next(source) for _ in range(10)])
        for number in range(ROUNDS):
            pages = [next(source) for _ in range(PAGES)]
            texts = list(batches(pages))
            count = sum(map(len, texts))
            for side in ("pipeline", "alone") if number % 2 == 0 else ("alone", "pipeline"):
                if side == "alone":
                    alone.append(count / await asyncio.to_thread(_embed, model, texts))
                    continue
                seconds, chunks = await running.publish(pages)
                assert chunks == count, f"the pipeline made {chunks} chunks, the chunker {count}"
                pipeline.append(count / seconds)
    return [
        Figure(name="pipeline", value=median(pipeline), unit="chunks/s", note=f"{ROUNDS} × {count} chunks"),
        Figure(name="embedder alone", value=median(alone), unit="chunks/s", note="same texts"),
        Figure(
            name="pipeline / embedder",
            value=median([whole / part for whole, part in zip(pipeline, alone, strict=True)]) * 100,
            unit="%",
            promise=Promise(bound=80, at_least=True),
            note="median of the rounds",
        ),
    ]


def batches(pages: Sequence[DocumentChange]) -> Iterator[list[str]]:
    """Yield the chunk texts of pages as the embedder gets them: parts of pages, as many as fit in one batch."""
    batch: list[str] = []
    for page in pages:
        text = chunking.text_of(changes.normalised(page), "g1")
        chunks = [chunk.text for chunk in chunking.cut(text, limits=chunking.Limits())]
        for start in range(0, len(chunks), MOST_CHUNKS):
            part = chunks[start : start + MOST_CHUNKS]
            if batch and len(batch) + len(part) > TOGETHER:
                yield batch
                batch = []
            batch = batch + part
    if batch:
        yield batch


def _embed(model: OnnxMiniLM, texts: Sequence[Sequence[str]]) -> float:
    began = time.perf_counter()
    for batch in texts:
        model(batch)
    return time.perf_counter() - began
