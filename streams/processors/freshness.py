"""How far the index is behind the versions that a question asks for.

Looked at before the legs search, so that "fresh" means that what they searched was; once a version is live, the index
never goes back behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from schemas.queries import MinVersion
from streams.ports import PassageReader


async def behind(passages: PassageReader, tenant: str, generation: str, wanted: Sequence[MinVersion]) -> int:
    """Return the largest lag in versions, 0 where nothing is asked for; a document that is not known has none at all.

    Raises StoreUnavailable.
    """
    if not wanted:
        return 0
    keys = [(each.source, each.doc_id) for each in wanted]
    live = await passages.live_versions(tenant, generation, keys)
    return max(0, *(each.version - live.get((each.source, each.doc_id), -1) for each in wanted))
