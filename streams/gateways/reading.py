"""Reading a whole document, as it is indexed now and as far as an agent may see it."""

from __future__ import annotations

import uuid

from schemas.documents import DocKey
from streams.domain import live_document
from streams.domain.live_document import LiveDocument
from streams.domain.scope import Scope
from streams.errors import Transient
from streams.ports import Generations, PassageReader

ATTEMPTS = 3  # a version that comes live between the two reads makes another attempt


class DocumentReader:
    """Finds live documents of the live generation. Raises StoreUnavailable, or Transient while one changes too fast."""

    def __init__(self, *, passages: PassageReader, generations: Generations) -> None:
        self._passages = passages
        self._generations = generations

    async def by_key(self, key: DocKey, agent: str | None) -> LiveDocument | None:
        """Return a document; none where it is not live, is deleted, or is not for this agent: nobody can tell which."""
        generation = (await self._generations.live()).id
        scope = Scope(tenant=key.tenant, generation=generation, agent=agent)
        for _ in range(ATTEMPTS):
            live = next((view for view in await self._passages.describe(key, generation) if view.state == "live"), None)
            ids = [chunk.id for chunk in live.chunks if chunk.level == "parent"] if live else []
            found = await self._passages.resolve(scope, ids)
            if not found:
                return None
            if len(found) == len(ids) and len({passage.version for passage in found.values()}) == 1:
                return live_document.assembled([found[chunk] for chunk in ids])
        raise Transient(f"{key.source}/{key.doc_id} is changing; read it again")

    async def by_passage(self, tenant: str, agent: str | None, passage_id: str) -> LiveDocument | None:
        """Return the document that a passage belongs to, by the passage's id from a result; none as above."""
        try:
            wanted = str(uuid.UUID(passage_id))
        except ValueError:
            return None
        generation = (await self._generations.live()).id
        scope = Scope(tenant=tenant, generation=generation, agent=agent)
        passage = (await self._passages.resolve(scope, [wanted])).get(wanted)
        if passage is None or passage.kind == "graph":
            return None
        return await self.by_key(DocKey(tenant=tenant, source=passage.source, doc_id=passage.doc_id), agent)
