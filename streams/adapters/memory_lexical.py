"""The in-memory twin of a model that gives lexical weights beside its vectors."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from schemas.chunks import SparseVector
from streams.adapters.memory_vectors import MemoryEmbedder
from streams.ports import Vectors

_WORD = re.compile(r"\w+")


class MemoryLexicalModel(MemoryEmbedder):
    """The Embedder and LexicalModel ports without a model: a word is a token, and counts by its length."""

    async def weigh_queries(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[SparseVector]]:
        """Return the vector and the weights of each question."""
        return await self.embed_queries(texts), [weights(text) for text in texts]

    async def weigh_passages(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[SparseVector]]:
        """Return the vector and the weights of each passage."""
        return await self.embed_passages(texts), [weights(text) for text in texts]


def weights(text: str) -> SparseVector:
    """Return a tenth a letter for each word of a text."""
    found = {_token(word): len(word) / 10 for word in _WORD.findall(text.lower())}
    return SparseVector(indices=tuple(sorted(found)), values=tuple(found[token] for token in sorted(found)))


def _token(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=3).digest(), "big")
