"""Providers that host an embedder's own model stand in for it when a question comes, once their vectors agree."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

import numpy as np

from streams.errors import ConfigurationError, ModelUnavailable, RankstreamError, Transient
from streams.ports import Embedder, Vectors

log = logging.getLogger(__name__)

LEAST = 0.98  # cosine of each sentence's two vectors
SECONDS = 0.6  # for which a question waits for the embedder itself
SENTENCES = (
    "How do I get my money back?",
    "The relay listens on port 7443; the firewall must let it through.",
    "Error E1042 when exporting a report with more than 50,000 rows to CSV",
    "Only owners may invite colleagues, under Settings, Members. An invitation is valid for seven days, and can be "
    "withdrawn by whoever sent it as long as nobody has accepted it.",
)


class SharedSpace:
    """The Embedder port over an embedder and those that host the same model; vectors are kept under its name.

    `prove` comes first: a stand-in is used from the moment its vectors were seen to agree.
    """

    def __init__(self, embedder: Embedder, stand_ins: Sequence[Embedder]) -> None:
        self.model = embedder.model
        self.dimension = embedder.dimension
        self.cosines: dict[str, float] = {}  # the least one of each proven stand-in
        self._embedder = embedder
        self._stand_ins = tuple(stand_ins)
        self._own: Vectors | None = None

    async def prove(self) -> None:
        """Compare the stand-ins' vectors with the embedder's; raise ConfigurationError for one that differs.

        One that does not answer is left out until it does.
        """
        try:
            await self._reference()
        except Transient as error:
            log.warning("%s: its stand-ins cannot be compared now: %s", self.model, error)
            return
        for stand_in in self._stand_ins:
            try:
                await self._proven(stand_in)
            except Transient as error:
                log.warning("%s: stands in for %s as soon as it answers: %s", stand_in.model, self.model, error)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a question, by the first that answers."""
        try:
            async with asyncio.timeout(SECONDS):
                return await self._embedder.embed_queries(texts)
        except (Transient, ConfigurationError, TimeoutError) as error:
            failure: Exception = error
        for stand_in in self._stand_ins:
            try:
                await self._proven(stand_in)
                vectors = await stand_in.embed_queries(texts)
            except RankstreamError as error:
                log.warning("%s: does not stand in for %s: %s", stand_in.model, self.model, error)
                continue
            log.warning("%s: stood in for %s: %s", stand_in.model, self.model, failure or "no answer in time")
            return vectors
        raise ModelUnavailable(f"{self.model}: {failure or 'no answer in time'}") from failure

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a passage: an index is made by the embedder itself alone."""
        return await self._embedder.embed_passages(texts)

    async def _reference(self) -> Vectors:
        if self._own is None:
            self._own = await _both(self._embedder)
        return self._own

    async def _proven(self, stand_in: Embedder) -> None:
        if stand_in.model in self.cosines:
            return
        own, other = await self._reference(), await _both(stand_in)
        if own.shape != other.shape:
            raise ConfigurationError(f"embedders.{stand_in.model}: same_as: its vectors have another dimension")
        cosine = float(np.min(np.sum(own * other, axis=1)))
        if cosine < LEAST:
            raise ConfigurationError(
                f"embedders.{stand_in.model}: same_as: its vectors are not those of {self.model}: the least cosine of "
                f"{len(own)} is {cosine:.3f}, below {LEAST}; correct its model or options, or remove same_as"
            )
        self.cosines[stand_in.model] = cosine


async def _both(embedder: Embedder) -> Vectors:
    return np.concatenate([await embedder.embed_queries(SENTENCES), await embedder.embed_passages(SENTENCES)])
