"""FlagEmbedding's models in this process: any encoder with cls or mean pooling, and BGE-M3 with its lexical weights.

Xiao et al., "C-Pack" (2023), https://arxiv.org/abs/2309.07597; Chen et al., "BGE M3-Embedding" (2024),
https://arxiv.org/abs/2402.03216. Code: https://github.com/FlagOpen/FlagEmbedding. Weights come from a folder or, by
name, from the Hugging Face hub, with what its library keeps on disk; HF_HUB_OFFLINE=1 keeps it off the network.

FlagEmbedding loads the model, its tokenizer and its pooling. Batches are put together here: its own loop computes the
first batch of every call twice, to try whether it fits, so each question would cost double.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from schemas.chunks import SparseVector
from streams.adapters.batched_embedder import BULK, BatchedEmbedder, BulkPassages
from streams.adapters.embedder_specs import Spec
from streams.batching import Run
from streams.domain import buckets, lexical
from streams.errors import ConfigurationError
from streams.ports import LexicalModel, Vectors

INSTALL = "pip install 'rankstream[bge]'"
PADDED = 16_384  # tokens of a batch, padding included


@dataclass(frozen=True, kw_only=True)
class Whole:
    """What BGE-M3 says of a text in one pass."""

    unit: Vectors  # shape (dimension,)
    weights: SparseVector  # by token


Forward = Callable[[Sequence[Sequence[int]]], Vectors]  # token ids of a batch to a row a text


class FlagEncoder:
    """The model itself: synchronous, safe to call from several threads. Half precision on a GPU only."""

    def __init__(self, name: str, spec: Spec) -> None:
        try:
            import FlagEmbedding  # noqa: PLC0415
            import torch  # noqa: PLC0415
        except ImportError as error:
            raise ConfigurationError(f"embedders.{name}: FlagEmbedding is not installed: run `{INSTALL}`") from error
        self._torch = torch
        self._spec = spec
        self.device = spec.device or ("cuda:0" if torch.cuda.is_available() else "cpu")
        options: dict[str, Any] = {"use_fp16": self.device != "cpu", "devices": self.device}
        if spec.kind == "bge-m3":
            build: Any = FlagEmbedding.BGEM3FlagModel
        else:
            build = partial(FlagEmbedding.FlagModel, pooling_method=spec.pooling)
        try:
            self._flag = build(spec.model, **options)
            self._flag.model.to(self.device).eval()
        except Exception as error:  # of a folder that lacks a file, its loaders raise whatever they meet
            why = str(error).strip().partition("\n")[0][:300]
            raise ConfigurationError(f"embedders.{name}: model: {spec.model} cannot be loaded: {why}") from error
        threads = spec.threads or min(4, os.cpu_count() or 1)
        # On a CPU each batch has one thread: where cores are shared, torch's own threads wait for each other at every
        # layer, and a question takes 17 times as long with two of them as with one.
        self._workers = ThreadPoolExecutor(threads if self.device == "cpu" else 1, "flag")
        self._tokenizing = threading.Lock()  # its limits are state of the tokenizer
        self._longest = min(spec.max_tokens, _positions(self._flag, spec.max_tokens))
        # As the library has it, these tokens say nothing.
        ids = (getattr(self._flag.tokenizer, f"{name}_token_id") for name in ("cls", "eos", "pad", "unk"))
        self._silent = frozenset(number for number in ids if number is not None)
        dimension = self._vectors(["a"]).shape[1]
        if dimension != spec.dimension:
            raise ConfigurationError(
                f"embedders.{name}: dimension: {spec.model} gives {dimension}, the file says {spec.dimension}; "
                f"write {dimension}"
            )

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of questions, shape (texts, dimension)."""
        # On this thread: passages may have all workers.
        return self._vectors([self._spec.query_instruction + text for text in texts])

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of passages, shape (texts, dimension)."""
        return self._vectors([self._spec.passage_instruction + text for text in texts], run=self._workers.map)

    def weighed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return a vector and lexical weights a question, as `Whole`: an array of objects, shape (texts, 1)."""
        return self._all([self._spec.query_instruction + text for text in texts], self._whole, map)

    def weighed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the same of passages."""
        return self._all([self._spec.passage_instruction + text for text in texts], self._whole, self._workers.map)

    def close(self) -> None:
        """Give the workers back."""
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _vectors(self, texts: Sequence[str], run: Callable[..., Iterator[Vectors]] = map) -> Vectors:
        return self._all(texts, self._forward, run) if texts else np.empty((0, self._spec.dimension), dtype=np.float32)

    def _all(self, texts: Sequence[str], forward: Forward, run: Callable[..., Iterator[Vectors]]) -> Vectors:
        """Return what `forward` makes of each text, in their order; batches hold texts of like length."""
        with self._tokenizing:
            ids = self._flag.tokenizer(list(texts), truncation=True, max_length=self._longest)["input_ids"]
        batches = list(buckets.by_length(list(map(len, ids)), self._spec.batch, most=PADDED))
        found = run(forward, [[ids[number] for number in numbers] for numbers in batches])
        vectors = np.concatenate(list(found))
        vectors[np.concatenate(batches)] = vectors.copy()
        return vectors

    def _forward(self, ids: Sequence[Sequence[int]]) -> Vectors:
        with self._torch.inference_mode():
            given = self._given(ids)
            if self._spec.kind == "bge-m3":
                pooled = self._flag.model(given, return_dense=True, return_sparse=False, return_colbert_vecs=False)
                return self._unit(pooled["dense_vecs"])
            hidden = self._flag.model(**given, return_dict=True).last_hidden_state
            return self._unit(self._flag.pooling(hidden, given["attention_mask"]))

    def _whole(self, ids: Sequence[Sequence[int]]) -> Vectors:
        with self._torch.inference_mode():
            found = self._flag.model(self._given(ids), return_dense=True, return_sparse=True, return_colbert_vecs=False)
            units, weights = self._unit(found["dense_vecs"]), found["sparse_vecs"].squeeze(-1).float().cpu().tolist()
        rows = np.empty((len(ids), 1), dtype=object)
        for number, (tokens, unit, of) in enumerate(zip(ids, units, weights, strict=True)):
            vector = lexical.heaviest(zip(tokens, of, strict=False), without=self._silent)  # padding comes last
            rows[number, 0] = Whole(unit=unit, weights=vector)
        return cast(Vectors, rows)

    def _unit(self, pooled: Any) -> Vectors:
        unit: Vectors = self._torch.nn.functional.normalize(pooled.float(), dim=-1).cpu().numpy()
        return unit

    def _given(self, ids: Sequence[Sequence[int]]) -> dict[str, Any]:
        torch, longest = self._torch, max(map(len, ids))
        if self.device == "cpu":
            torch.set_num_threads(1)  # the setting is the calling thread's
        padding = self._flag.tokenizer.pad_token_id or 0
        tokens = torch.tensor([[*each, *[padding] * (longest - len(each))] for each in ids], device=self.device)
        mask = torch.tensor([[1] * len(each) + [0] * (longest - len(each)) for each in ids], device=self.device)
        return {"input_ids": tokens, "attention_mask": mask}


def _positions(flag: Any, default: int) -> int:
    """Return how many tokens a model has places for; RoBERTa's keep the first ones, up to its padding, for itself."""
    inner = getattr(flag.model, "model", flag.model)
    config = inner.config
    places = int(getattr(config, "max_position_embeddings", default))
    kept = int(config.pad_token_id or 0) + 1 if "roberta" in str(config.model_type) else 0
    return places - kept if places > kept else default


class FlagEmbedder(BatchedEmbedder):
    """The Embedder port over the model."""

    def __init__(self, name: str, spec: Spec) -> None:
        self._encoder = FlagEncoder(name, spec)
        queries, passages = self._runs()
        super().__init__(
            model=name,
            dimension=spec.dimension,
            queries=queries,
            passages=passages,
            # A GPU is as soon done with a whole batch.
            bulk_size=BULK if self._encoder.device == "cpu" else spec.batch,
        )

    def _runs(self) -> tuple[Run, Run]:
        return self._encoder.queries, self._encoder.passages

    async def close(self) -> None:
        """Give the threads back."""
        await super().close()
        self._encoder.close()


class FlagLexicalEmbedder(FlagEmbedder):
    """The Embedder and LexicalModel ports over BGE-M3: one pass over a text gives both."""

    def __init__(self, name: str, spec: Spec) -> None:
        super().__init__(name, spec)
        self.bulk = BulkWeighing(self, self._passages)

    def _runs(self) -> tuple[Run, Run]:
        return self._encoder.weighed_queries, self._encoder.weighed_passages

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a question."""
        return (await self.weigh_queries(texts))[0]

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a passage."""
        return (await self.weigh_passages(texts))[0]

    async def weigh_queries(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[SparseVector]]:
        """Return one unit vector and the token weights of each question."""
        return parted(await super().embed_queries(texts)) if texts else self._none()

    async def weigh_passages(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[SparseVector]]:
        """Return one unit vector and the token weights of each passage."""
        return parted(await super().embed_passages(texts)) if texts else self._none()

    def _none(self) -> tuple[Vectors, Sequence[SparseVector]]:
        return np.empty((0, self.dimension), dtype=np.float32), []


class BulkWeighing(BulkPassages):
    """The same over the bulk lane, with the token weights."""

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a passage, when nobody else wants the model."""
        return (await self.weigh_passages(texts))[0]

    async def weigh_queries(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[SparseVector]]:
        """Return one unit vector and the token weights of each question."""
        embedder = cast(LexicalModel, self._embedder)
        return await embedder.weigh_queries(texts)

    async def weigh_passages(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[SparseVector]]:
        """Return one unit vector and the token weights of each passage, when nobody else wants the model."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32), []
        return parted(await super().embed_passages(texts))


def parted(rows: Vectors) -> tuple[Vectors, Sequence[SparseVector]]:
    """Return the unit vectors and the token weights of what the model said of some texts."""
    whole = cast(list[Whole], rows[:, 0].tolist())
    return np.stack([each.unit for each in whole]), [each.weights for each in whole]
