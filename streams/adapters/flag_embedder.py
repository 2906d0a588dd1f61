"""FlagEmbedding's models in this process: any encoder with cls or mean pooling, and BGE-M3's dense vectors.

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
from functools import partial
from typing import Any

import numpy as np

from streams.adapters.batched_embedder import BULK, BatchedEmbedder
from streams.adapters.embedder_specs import Spec
from streams.domain import buckets
from streams.errors import ConfigurationError
from streams.ports import Vectors

INSTALL = "pip install 'rankstream[bge]'"
PADDED = 16_384  # tokens of a batch, padding included


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

    def close(self) -> None:
        """Give the workers back."""
        self._workers.shutdown(wait=False, cancel_futures=True)

    def _vectors(self, texts: Sequence[str], run: Callable[..., Iterator[Vectors]] = map) -> Vectors:
        if not texts:
            return np.empty((0, self._spec.dimension), dtype=np.float32)
        with self._tokenizing:
            ids = self._flag.tokenizer(list(texts), truncation=True, max_length=self._longest)["input_ids"]
        batches = list(buckets.by_length(list(map(len, ids)), self._spec.batch, most=PADDED))
        found = run(self._forward, [[ids[number] for number in numbers] for numbers in batches])
        vectors = np.concatenate(list(found))
        vectors[np.concatenate(batches)] = vectors.copy()
        return vectors

    def _forward(self, ids: Sequence[Sequence[int]]) -> Vectors:
        torch, longest = self._torch, max(map(len, ids))
        if self.device == "cpu":
            torch.set_num_threads(1)  # the setting is the calling thread's
        padding = self._flag.tokenizer.pad_token_id or 0
        tokens = torch.tensor([[*each, *[padding] * (longest - len(each))] for each in ids], device=self.device)
        mask = torch.tensor([[1] * len(each) + [0] * (longest - len(each)) for each in ids], device=self.device)
        given = {"input_ids": tokens, "attention_mask": mask}
        with torch.inference_mode():
            if self._spec.kind == "bge-m3":
                found = self._flag.model(given, return_dense=True, return_sparse=False, return_colbert_vecs=False)
                pooled = found["dense_vecs"]
            else:
                pooled = self._flag.pooling(self._flag.model(**given, return_dict=True).last_hidden_state, mask)
            unit: Vectors = torch.nn.functional.normalize(pooled.float(), dim=-1).cpu().numpy()
        return unit


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
        run = self._encoder
        super().__init__(
            model=name,
            dimension=spec.dimension,
            queries=run.queries,
            passages=run.passages,
            bulk_size=BULK if run.device == "cpu" else spec.batch,  # a GPU is as soon done with a whole batch
        )

    async def close(self) -> None:
        """Give the threads back."""
        await super().close()
        self._encoder.close()
