"""The embedder without a model."""

from __future__ import annotations

import numpy as np

from streams.adapters.memory import MemoryEmbedder


async def test_vectors_have_unit_length_even_without_words() -> None:
    rows = await MemoryEmbedder().embed_passages(["refund an invoice", "", "???"])
    assert rows.shape == (3, 64)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)


async def test_a_question_is_nearest_to_the_passage_that_shares_its_words() -> None:
    embedder = MemoryEmbedder()
    question = (await embedder.embed_queries(["Refund an invoice?"]))[0]
    passages = await embedder.embed_passages(["how to refund an invoice", "ports of the relay", "seats and roles"])
    assert int(np.argmax(passages @ question)) == 0
    assert np.array_equal(
        passages, await embedder.embed_passages(["how to refund an invoice", "ports of the relay", "seats and roles"])
    )
