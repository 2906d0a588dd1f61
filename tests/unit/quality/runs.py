"""Results of runs that never were, for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.replies import LegScore, Passage
from streams.quality import metrics
from streams.quality.ranking import Ranked
from streams.quality.results import QueryResult


def result(query_id: str, ranking: Sequence[str], **fields: object) -> QueryResult:
    """Return the result of a question that `right` answers."""
    gold = {"right": 1}
    given = {
        "query_id": query_id,
        "profile": "general",
        "metrics": metrics.measure(ranking, gold),
        "ms": 10.0,
        "degraded": False,
        "passages": len(ranking),
        "gold": gold,
        "ranking": tuple(Ranked(id=place, score=1 / rank) for rank, place in enumerate(ranking, start=1)),
    }
    return QueryResult(**{**given, **fields})  # type: ignore[arg-type]


def passage(doc_id: str, *heading_path: str, score: float = 1.0) -> Passage:
    """Return a passage of a document under a heading path."""
    return Passage(
        rank=1,
        passage_id=f"{doc_id}{heading_path}",
        source="set",
        doc_id=doc_id,
        version=1,
        kind="document",
        title="",
        heading_path=heading_path,
        uri="",
        trust="internal",
        text="",
        score=score,
        fused=score,
        legs={"dense": LegScore(rank=1, score=score)},
        evidence=(),
    )
