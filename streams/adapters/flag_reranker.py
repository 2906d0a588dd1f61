"""A cross-encoder of FlagEmbedding, bge-reranker-v2-m3 or any other, from a hub name or a folder.

Source: https://github.com/FlagOpen/FlagEmbedding, BaseReranker. With HF_HUB_OFFLINE=1 a hub name is looked up among
what was downloaded before; a folder never needs the network.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from streams import settings
from streams.batching import MicroBatcher, in_thread
from streams.domain.reranking import Scored
from streams.errors import ConfigurationError
from streams.ports import Vectors
from streams.telemetry.calls import traced

LONGEST = 1_024  # tokens of question and passage together: a passage of 3,500 characters is read whole
QUESTION_SHARE = 0.75  # of these, at most, for the question, as FlagEmbedding has it
CPU_BATCH = 4  # passages at once; more would make the last ones late and none faster
GPU_BATCH = 32
MOST_QUEUED = 512  # passages

_SEPARATOR = "\x1e"  # no question has it: a question is normalised


class FlagCrossEncoder:
    """The model itself: synchronous, for one thread at a time."""

    def __init__(self, name: str, *, threads: int | None = None, longest: int = LONGEST) -> None:
        """Load a model; raise ConfigurationError that names the setting and what to do."""
        try:
            import torch  # noqa: PLC0415  the extra `bge` brings them
            from FlagEmbedding import FlagReranker  # noqa: PLC0415
        except ImportError as error:
            said = f"{settings.RERANKER}={name} needs FlagEmbedding ({error}): run `pip install 'rankstream[bge]'`"
            raise ConfigurationError(said) from error
        self._torch = torch
        torch.set_num_threads(threads or os.cpu_count() or 1)
        self.on_gpu: bool = torch.cuda.is_available()
        # Half precision is a gain on a GPU and a loss on a CPU.
        device = "cuda:0" if self.on_gpu else "cpu"
        try:
            loaded = FlagReranker(name, use_fp16=self.on_gpu, devices=device)
        except Exception as error:  # of a broken folder they raise whatever comes first
            reason = " ".join(str(error).split())[:300]
            said = f"{settings.RERANKER}: {name!r} is no folder with a model, nor a hub name that can be had: {reason}"
            raise ConfigurationError(said) from error
        self._tokenizer = loaded.tokenizer
        model = loaded.model.half() if self.on_gpu else loaded.model
        self._model = model.to(device).eval()
        if self._model.config.num_labels != 1:
            raise ConfigurationError(f"{settings.RERANKER}: {name!r} has no single score; it is not a reranker")
        self.longest = min(longest, _positions(self._model.config), self._tokenizer.model_max_length)

    def __call__(self, pairs: Sequence[str]) -> Vectors:
        """Return rows of a score, through the sigmoid, and 1 where a text was cut: shape (pairs, 2); see `paired`.

        A passage is cut at its end, so that the headings in front of it stay.
        """
        # Not compute_score, which sends its first batch through the model twice to find out whether it fits.
        torch, tokenizer = self._torch, self._tokenizer
        parts = [pair.split(_SEPARATOR, 1) for pair in pairs]
        questions = [self._cut(question) for question, _ in parts]
        passages = [passage for _, passage in parts]
        encoded = tokenizer(questions, passages, truncation="only_second", max_length=self.longest, padding=True)
        cut = [bool(each.overflowing) for each in encoded.encodings]
        order = sorted(range(len(pairs)), key=lambda number: sum(encoded.attention_mask[number]))
        scores = np.empty((len(pairs), 2), dtype=np.float32)
        size = GPU_BATCH if self.on_gpu else CPU_BATCH
        for start in range(0, len(order), size):
            numbers = order[start : start + size]
            longest = max(sum(encoded.attention_mask[number]) for number in numbers)
            rows = {
                name: torch.tensor([of[number][:longest] for number in numbers], device=self._model.device)
                for name, of in encoded.items()
            }
            with torch.inference_mode():
                logits = self._model(**rows).logits.view(-1).float()
            scores[numbers, 0] = torch.sigmoid(logits).cpu().numpy()
        scores[:, 1] = cut
        return scores

    def _cut(self, question: str) -> str:
        most = int(self.longest * QUESTION_SHARE)
        encoded = self._tokenizer(question, add_special_tokens=False, return_offsets_mapping=True)
        offsets = encoded["offset_mapping"]
        return question if len(offsets) <= most else question[: offsets[most - 1][1]]


def paired(question: str, passage: str) -> str:
    """Return question and passage as one text, as a batch is made of texts."""
    return f"{question.replace(_SEPARATOR, ' ')}{_SEPARATOR}{passage}"


def _positions(config: Any) -> int:
    """Return how many tokens a model has positions for; RoBERTa's begin after its padding."""
    positions = int(config.max_position_embeddings)
    return positions - config.pad_token_id - 1 if "roberta" in config.model_type else positions


@traced("reranker", "score")
class FlagReranker:
    """The Reranker port over a cross-encoder: on a thread of its own, passages of several questions together."""

    def __init__(self, name: str, *, threads: int | None = None) -> None:
        """Load the model and run it once, so that no question waits for that."""
        self.model = label(name)
        run = FlagCrossEncoder(name, threads=threads)
        run([paired("warm", "up")])
        self.at_once: int | None = GPU_BATCH if run.on_gpu else CPU_BATCH
        self._thread = ThreadPoolExecutor(1, "rerank")
        self._batcher = MicroBatcher(
            in_thread(self._thread, run), kind="pairs", size=self.at_once, wait=0.0, most_queued=MOST_QUEUED
        )

    async def score(self, question: str, passages: Sequence[str], *, seconds: float) -> Scored:
        """Return one score a passage, in 0..1; raise Transient when the model fails or too much is queued."""
        rows = await self._batcher([paired(question, passage) for passage in passages])
        return Scored(scores=rows[:, 0].tolist(), shortened=int(rows[:, 1].sum()))

    async def close(self) -> None:
        """Give the thread back."""
        await self._batcher.close()
        self._thread.shutdown(wait=False, cancel_futures=True)


def label(name: str) -> str:
    """Return the name that replies show: a hub name as it is, of a folder its last part."""
    with contextlib.suppress(OSError):
        if Path(name).is_dir():
            return Path(name).resolve().name
    return name
