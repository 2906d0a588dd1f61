"""The in-memory twins of the text index and of the passages read at fusion."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from schemas.chunks import Chunk
from schemas.documents import DocKey, Kind
from schemas.queries import Filters, Hit
from streams.adapters.memory_state import State
from streams.adapters.memory_versions import open_to
from streams.domain import lexemes
from streams.domain.lexemes import TextFound, TextRow
from streams.domain.scope import Scope
from streams.domain.versions import LivePassage, VersionView

WEIGHTS = {"A": 1.0, "B": 0.4, "C": 0.2, "D": 0.1}  # by label; a position without one is a D

# 'word':1A,2 or word:1A,2 in a tsvector, 'word' or word in a tsquery; a quote inside is doubled.
_LEXEME = re.compile(r"(?:'((?:[^']|'')*)'|([^\s':|&!()]+))(?::([\d,A-D]+))?")


class MemoryTextIndex:
    """The TextIndex port in memory; ranks like Postgres, without a bound."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def write(self, key: DocKey, version: int, generation: str, rows: Sequence[TextRow], *, kind: Kind) -> bool:
        """Keep chunks that are not there yet."""
        if not open_to(self._state.document(key, generation), version):
            return False
        for row in rows:
            self._state.texts.setdefault(row.id, row)
            self._state.kinds.setdefault(row.id, kind)
        return True

    async def search(
        self, scope: Scope, terms: Sequence[str], limit: int, *, kind: Kind, prefix: bool = False
    ) -> TextFound:
        """Return up to `limit` visible parents of a kind that share any of the terms, best first."""
        terms = [term for term in terms if lexemes.tsquery([term])]
        if not terms or limit < 1:
            return TextFound(hits=[])
        wanted = [word for term in terms for word in _positions(lexemes.tsquery([term]))]
        parents = {
            chunk.id
            for _, version in self._state.visible(scope)
            for chunk in version.chunks
            if self._is_passage(chunk, kind)
        }
        scored = [(chunk_id, _rank(self._state.texts[chunk_id].lexemes, wanted, prefix)) for chunk_id in parents]
        hits = [Hit(chunk_id=chunk_id, score=score) for chunk_id, score in scored if score is not None]
        owned = [list(_positions(row.lexemes)) for row in self._owned(scope, kind)]
        return TextFound(
            hits=sorted(hits, key=lambda hit: (-hit.score, hit.chunk_id))[:limit],
            frequencies=tuple(sum(any(_is(has, word, prefix) for has in words) for words in owned) for word in wanted),
            counted=len(owned),
        )

    def _owned(self, scope: Scope, kind: Kind) -> list[TextRow]:
        """Return the passages of a tenant, visible or not: they weigh words, and are not shown."""
        ids = {
            chunk.id
            for (generation, key), document in self._state.documents.items()
            if (generation, key.tenant) == (scope.generation, scope.tenant)
            for version in document.versions.values()
            for chunk in version.chunks
            if self._is_passage(chunk, kind)
        }
        return [self._state.texts[chunk_id] for chunk_id in sorted(ids)]

    def _is_passage(self, chunk: Chunk, kind: Kind) -> bool:
        return chunk.level == "parent" and self._state.kinds.get(chunk.id) == kind


class MemoryPassages:
    """The PassageReader and PinnedReader ports in memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def resolve(
        self, scope: Scope, chunk_ids: Sequence[str], terms: Sequence[str] = ()
    ) -> Mapping[str, LivePassage]:
        """Return, by chunk id, the visible passage it leads to."""
        wanted, texts = set(chunk_ids), self._state.texts
        return {
            chunk.id: LivePassage(
                passage_id=chunk.parent_id,
                heading_path=texts[chunk.parent_id].heading_path,
                body=texts[chunk.parent_id].body,
                source=version.change.source,
                doc_id=version.change.doc_id,
                version=version.change.version,
                kind=version.change.kind,
                title=version.change.title,
                uri=version.change.uri,
                trust=version.change.trust,
                language=version.language,
                context=self._state.contexts.get(chunk.parent_id, ("", ""))[1],
                evidence_body=texts[chunk.id].body if chunk.level == "child" else "",
                terms=found_terms(terms, texts[chunk.parent_id].lexemes),
            )
            for _, version in self._state.visible(scope)
            for chunk in version.chunks
            if chunk.id in wanted and chunk.parent_id in texts
        }

    async def pinned(self, scope: Scope, limit: int) -> Sequence[LivePassage]:
        """Return the passages of the documents that are pinned for the agent."""
        everything = replace(scope, filters=Filters())
        ids = [
            chunk.id
            for _, version in sorted(
                self._state.visible(everything), key=lambda each: (each[1].change.source, each[1].change.doc_id)
            )
            if scope.agent is not None and scope.agent in version.change.pinned
            for chunk in version.chunks
            if chunk.level == "parent"
        ]
        found = await self.resolve(everything, ids)
        return [found[chunk_id] for chunk_id in ids if chunk_id in found][:limit]

    async def gone(self, scope: Scope, chunk_ids: Sequence[str]) -> bool:
        """Tell whether any of these chunks belongs to no version any more."""
        known = {
            chunk.id
            for document in self._state.documents.values()
            for version in document.versions.values()
            for chunk in version.chunks
        }
        return not known.issuperset(chunk_ids)

    async def live_versions(
        self, tenant: str, generation: str, keys: Sequence[tuple[str, str]]
    ) -> Mapping[tuple[str, str], int]:
        """Return the live version by (source, doc id), an accepted deletion's too."""
        found = {}
        for source, doc_id in keys:
            key = DocKey(tenant=tenant, source=source, doc_id=doc_id)
            document = self._state.documents.get((generation, key))
            live = None if document is None else document.live_version
            versions = [each for each in (live, self._state.deletions.get(key)) if each is not None]
            if versions:
                found[source, doc_id] = max(versions)
        return found

    async def describe(self, key: DocKey, generation: str) -> tuple[VersionView, ...]:
        """Return the versions, newest first; the chunks of a live one, unless it is being deleted."""
        document = self._state.documents.get((generation, key))
        if document is None:
            return ()
        shown = any(of is document for of, _ in self._state.live(generation))
        return tuple(
            VersionView(
                version=number,
                state=version.state,
                title=version.change.title,
                kind=version.change.kind,
                waits=tuple(version.waits),
                reason=version.reason,
                chunks=version.chunks if shown and number == document.live_version else (),
            )
            for number, version in sorted(document.versions.items(), reverse=True)
        )


def found_terms(terms: Sequence[str], tsvector: str) -> tuple[int, ...]:
    """Return the places of the terms that a tsvector literal has."""
    has = set(_positions(tsvector))
    return tuple(place for place, term in enumerate(terms) if set(_positions(lexemes.tsquery([term]))) <= has)


def _positions(literal: str) -> dict[str, dict[int, str]]:
    """Read a tsvector or tsquery literal: lexeme -> position -> weight label."""
    read: dict[str, dict[int, str]] = {}
    for quoted, bare, places in _LEXEME.findall(literal):
        found = [re.fullmatch(r"(\d+)([A-D]?)", place) for place in places.split(",")] if places else []
        labels = {int(place[1]): place[2] or "D" for place in found if place}
        read[quoted.replace("''", "'") or bare] = labels
    return read


def _is(has: str, word: str, prefix: bool) -> bool:
    return has.startswith(word) if prefix else has == word


def _rank(literal: str, wanted: Sequence[str], prefix: bool) -> float | None:
    """Return ts_rank_cd for an OR of terms; none without a match.

    Every occurrence is a cover of its own, of length one, so that the rank is the sum of the weights of all positions.
    """
    has = _positions(literal)
    matched = {word: places for word, places in has.items() if any(_is(word, each, prefix) for each in wanted)}
    if not matched:
        return None
    labels = {position: label for places in matched.values() for position, label in places.items()}
    return float(np.float32(sum(WEIGHTS[label] for label in labels.values())))
