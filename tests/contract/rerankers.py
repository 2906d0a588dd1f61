"""What every reranker must do."""

from __future__ import annotations

import asyncio
import math

from streams.ports import Reranker

QUESTION = "Which port does the relay use?"
PASSAGES = (
    "Relay > Ports\n\nThe relay does use port 7443.",
    "Lunch is served at noon.",
    "",
    "Relay > Logs\n\nThe relay writes logs.",
)


async def scores_every_passage_with_a_number_from_nought_to_one(reranker: Reranker) -> None:
    for passages in (PASSAGES, PASSAGES[:1]):
        scored = await reranker.score(QUESTION, passages, seconds=30.0)
        assert len(scored.scores) == len(passages)
        assert all(math.isfinite(score) and 0 <= score <= 1 for score in scored.scores)
        assert scored.shortened == 0
    assert reranker.model
    assert reranker.at_once is None or reranker.at_once > 0


async def says_the_same_twice_and_side_by_side(reranker: Reranker) -> None:
    alone = (await reranker.score(QUESTION, PASSAGES, seconds=30.0)).scores
    beside = await asyncio.gather(*(reranker.score(QUESTION, PASSAGES, seconds=30.0) for _ in range(3)))
    for scored in beside:
        assert all(abs(one - other) < 1e-4 for one, other in zip(scored.scores, alone, strict=True))


async def counts_what_it_could_not_read_whole(reranker: Reranker) -> None:
    scored = await reranker.score(QUESTION, ["relay port " * 20_000, "short"], seconds=30.0)
    assert scored.shortened == 1
