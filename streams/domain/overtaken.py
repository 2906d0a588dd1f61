"""Which hits could be in an answer, were they live: where a new version took one away, something may be missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schemas.queries import Leg, LegResult
from streams.domain.fusion import reciprocal_rank_fusion
from streams.domain.versions import LivePassage

ROOM = 4  # times as many as are wanted: scoring moves what fusion ranks, and several chunks make one passage


def found_chunk_ids(results: Mapping[Leg, LegResult]) -> list[str]:
    """Return the chunk ids of all hits, facts and overviews, each once, in the legs' order."""
    return list(dict.fromkeys(chunk for _, chunks in _rankings(results) for chunk in chunks))


def leading_chunk_ids(results: Mapping[Leg, LegResult], *, wanted: int) -> frozenset[str]:
    """Return the chunk ids that fusion (k = 60, equal weights) puts first, live or not: ROOM times `wanted` of them."""
    fused = reciprocal_rank_fusion(dict(_rankings(results)))
    return frozenset(sorted(fused, key=lambda chunk: (-fused[chunk], chunk))[: ROOM * wanted])


def of_one_version(
    live: Mapping[str, LivePassage], pinned: Sequence[LivePassage]
) -> tuple[Mapping[str, LivePassage], Sequence[LivePassage]]:
    """Return the passages without those of a document's older version, where the two were read before and after a flip.

    The very same mapping and sequence where each document is there in one version.
    """
    newest: dict[tuple[str, str], int] = {}
    for each in (*live.values(), *pinned):
        key = (each.source, each.doc_id)
        newest[key] = max(each.version, newest.get(key, each.version))

    def last(passage: LivePassage) -> bool:
        return passage.version == newest[passage.source, passage.doc_id]

    if all(map(last, live.values())) and all(map(last, pinned)):
        return live, pinned
    return {chunk: each for chunk, each in live.items() if last(each)}, [each for each in pinned if last(each)]


def _rankings(results: Mapping[Leg, LegResult]) -> Iterator[tuple[str, Sequence[str]]]:
    for leg, result in results.items():
        for kind, found in (
            ("hits", result.hits),
            ("questions", result.questions),
            ("lexical", result.lexical),
            ("facts", result.facts),
        ):
            yield f"{leg} {kind}", tuple(dict.fromkeys(each.chunk_id for each in found))
        yield f"{leg} overviews", tuple(dict.fromkeys(c for overview in result.overviews for c in overview.evidence))
