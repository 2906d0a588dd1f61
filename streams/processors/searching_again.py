"""A search that is made again, because what it found was replaced meanwhile: whether, and how; a part of `fuse`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from schemas.queries import Expected, Leg, LegResult
from streams.domain.overtaken import found_chunk_ids, leading_chunk_ids
from streams.domain.scope import Scope
from streams.ports import PassageReader
from streams.wire import Outgoing
from topics import catalogue

FIND_LIVE: tuple[Leg, ...] = ("fulltext", "qa", "graph")  # they search in what is live, and find nothing else
MOST_SEARCHES = 4  # of one question, where flips keep overtaking it: what is busy must not make itself busier


async def is_missing(
    passages: PassageReader, scope: Scope, results: Mapping[Leg, LegResult], live: frozenset[str], *, room: int
) -> bool:
    """Tell whether a leading hit's chunk was replaced while the legs searched, so that its page could be missing.

    The vector legs find chunks of a version that is not live yet as well: those are no reason to search again. What the
    other legs find was live, and may be part of a coming version once more, where an edit is taken back.
    """
    if live.issuperset(found_chunk_ids(results)):
        return False
    missing = leading_chunk_ids(results, wanted=room) - live
    if any(hit.chunk_id in missing for leg in FIND_LIVE if leg in results for hit in results[leg].hits):
        return True
    return bool(missing) and await passages.gone(scope, sorted(missing))


def is_worth_it(expected: Expected, joined: float, now: float, legs_budget: float, fence: float) -> bool:
    """Tell whether there is time for one more search of up to `legs_budget` s and `fence` s, and it may have one.

    It ends when the legs' budget does, and mostly as soon as the last search did, which `joined` its results then.
    """
    longest = min(2 * (joined - expected.prepared), legs_budget)
    return now + longest + fence <= expected.query.deadline and expected.searches < MOST_SEARCHES


def outgoing(expected: Expected, behind: int, now: float) -> Sequence[Outgoing]:
    """Return what has the legs search once more, under a ticket of its own."""
    query = msgspec.structs.replace(expected.query, ticket=f"{expected.query.ticket}-again")
    once_more = msgspec.structs.replace(
        expected, query=query, prepared=now, again=True, searches=expected.searches + 1, behind=behind
    )
    key = query.ticket.encode()
    return [
        Outgoing(topic=catalogue.LEG_RESULTS, key=key, message=once_more),
        Outgoing(topic=catalogue.PREPARED, key=key, message=query),
    ]
