"""The in-memory twin of the live documents."""

from __future__ import annotations

from streams.adapters.memory_state import State
from streams.domain.live_document import Holdings, LiveDocument, LivePart
from streams.domain.scope import Scope


class MemoryDocuments:
    """The DocumentReader port in memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def read(self, scope: Scope, source: str, doc_id: str) -> LiveDocument | None:
        """Return a document as the scope sees it."""
        for document, version in self._state.visible(scope):
            change = version.change
            if (document.key.source, document.key.doc_id) != (source, doc_id):
                continue
            parts = tuple(
                LivePart(passage_id=chunk.id, heading_path=chunk.heading_path, body=self._state.texts[chunk.id].body)
                for chunk in version.chunks
                if chunk.level == "parent"
            )
            return LiveDocument(
                source=source,
                doc_id=doc_id,
                version=change.version,
                kind=change.kind,
                title=change.title,
                uri=change.uri,
                trust=change.trust,
                language=version.language,
                tags=tuple(sorted(set(change.tags))),
                updated_at=change.updated_at,
                parts=parts,
            )
        return None

    async def holdings(self, tenant: str, generation: str) -> Holdings:
        """Return how much of a tenant is live."""
        counts = [
            len(version.chunks) for document, version in self._state.live(generation) if document.key.tenant == tenant
        ]
        full = [count for count in counts if count]
        return Holdings(documents=len(full), chunks=sum(full))
