"""Which hits could be in an answer: by fused rank over all lists, live or not."""

from __future__ import annotations

import msgspec

from schemas.graph import Overview
from schemas.queries import Fact
from streams.domain.overtaken import ROOM, found_chunk_ids, leading_chunk_ids
from tests.unit.domain.questions import result


def test_all_that_was_found_is_evidence_and_each_chunk_once() -> None:
    graph = msgspec.structs.replace(
        result("graph", "a"),
        facts=(Fact(subject="Team plan", label="includes", object="API", chunk_id="f"),),
        overviews=(Overview(title="billing", text="About bills.", evidence=("o", "a")),),
    )
    dense = msgspec.structs.replace(result("dense", "a", "b"), questions=result("dense", "q").hits)
    assert found_chunk_ids({"graph": graph, "dense": dense}) == ["a", "f", "o", "b", "q"]


def test_who_leads_in_several_lists_comes_before_who_leads_in_one() -> None:
    first = tuple(f"x{place}" for place in range(ROOM + 1))
    results = {"dense": result("dense", *first, "shared"), "sparse": result("sparse", "shared")}
    assert leading_chunk_ids(results, wanted=1) == {"shared", *first[: ROOM - 1]}
    assert leading_chunk_ids({}, wanted=5) == frozenset()
