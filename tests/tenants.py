"""Tenants that are alike in all but their words, what may be done to them, and how a leak between them is seen."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import hypothesis.strategies as st
from msgspec.structs import replace

from schemas.documents import DocumentChange, DocumentStatus
from tests.pipeline import next_version, page

DOCS = ("a/one", "a/two", "b/three")
AGENTS = (None, "bot", "captain")
WORDS = ("quartz", "basalt", "cobalt")  # one a tenant
_worlds = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class Edit:
    """A new version of a document, or its deletion."""

    tenant: int
    doc_id: str
    op: Literal["upsert", "delete"]
    kind: Literal["document", "qa"]
    agents: tuple[str, ...]
    pinned: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A question; `of` is whose words it may hold."""

    tenant: int
    of: int
    text: str
    agent: str | None
    profile: str
    explain: bool
    filters: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Read:
    """A look at a whole document."""

    tenant: int
    doc_id: str


Step = Edit | Ask | Read


@dataclass(frozen=True, kw_only=True)
class Said:
    """Everything that came back from a door, and what of it is a number."""

    text: str
    counts: Mapping[str, int] = field(default_factory=dict)  # candidates by leg, and what was dropped


class Door(Protocol):
    """A way in for callers, as one tenant at a time."""

    async def publish(self, change: DocumentChange) -> DocumentStatus | None: ...

    async def ask(self, tenant: str, ask: Ask, text: str, filters: Mapping[str, Any]) -> Said: ...

    async def read(self, tenant: str, source: str, doc_id: str) -> Said: ...

    async def held(self, tenant: str) -> int | None:
        """Return how many documents the door says that a tenant has; none where it says nothing of it."""
        ...


class World:
    """Three tenants of an example's own; the last one never has a document."""

    def __init__(self) -> None:
        self._number = next(_worlds)
        self.live: dict[tuple[int, str], DocumentChange] = {}  # the last version of each
        self.editing: defaultdict[tuple[int, str], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._counter = itertools.count(1)

    def tenant(self, place: int) -> str:
        return f"{WORDS[place]}-corp-{self._number}"

    def mark(self, place: int) -> str:
        """Return the word that is in each text, title, address and tag of a tenant, and in nobody else's."""
        return f"{WORDS[place]}{self._number}x"

    def change(self, edit: Edit) -> DocumentChange:
        """Return what an edit publishes, and remember it."""
        mark, number = self.mark(edit.tenant), next(self._counter)
        answer = f"The Harbour Gateway asks the Tide Service for {mark} number {number}."
        change = replace(
            page(edit.doc_id, f"# Harbour Gateway {mark}\n\n{answer}\n\n## Tide Service\n\nIt keeps {mark} for a day."),
            tenant=self.tenant(edit.tenant),
            version=next_version(),
            title=f"Harbour Gateway {mark}",
            uri=f"https://{mark}.example/{edit.doc_id}",
            tags=("shared", f"only-{mark}"),
            metadata={"owner": mark},
            agents=edit.agents,
            pinned=edit.pinned,
        )
        if edit.kind == "qa":
            asked = "What does the Harbour Gateway ask for?"
            change = replace(change, kind="qa", title="", content="", question=asked, answer=answer)
        if edit.op == "delete":
            key = {"tenant": change.tenant, "source": change.source, "doc_id": change.doc_id}
            change = DocumentChange(**key, version=change.version, op="delete")
        self.live[edit.tenant, edit.doc_id] = change
        return change

    def texts(self, ask: Ask) -> tuple[str, dict[str, Any]]:
        """Return a question and its filters with the words of whom they are about."""
        words = {"mark": self.mark(ask.of), "tenant": self.tenant(ask.of)}
        filters = {name: [each.format(**words) for each in value] for name, value in ask.filters.items()}
        if "directory" in filters:
            filters["directory"] = filters["directory"][0]
        return ask.text.format(**words), filters

    def documents(self, place: int, *, hidden: bool = False) -> int:
        """Return how many documents a tenant has that all its agents see, with `hidden` all."""
        changes = [change for (tenant, _), change in self.live.items() if tenant == place]
        return sum(change.op == "upsert" and (hidden or not change.agents) for change in changes)

    def check(self, place: int, said: Said, given: Sequence[str] = ()) -> None:
        """Fail when a tenant was told a word of another one, beside those that it gave itself, or a number."""
        text = said.text
        for own in given:
            text = text.replace(own, "").replace(json.dumps(own)[1:-1], "")
        for other in range(len(WORDS)):
            if other != place:
                for word in (self.mark(other), self.tenant(other)):
                    assert word not in text, f"{self.tenant(place)} was told {word}: {text}"
        if not any(tenant == place for tenant, _ in self.live):
            assert not any(said.counts.values()), f"{self.tenant(place)} has nothing, and was told {said.counts}"


def steps() -> st.SearchStrategy[list[list[Step]]]:
    """Return what happens: steps one after the other, each of some things at the same time."""
    audience = st.sampled_from(((), (), ("bot",), ("bot", "captain")))
    edits = st.builds(
        Edit,
        tenant=st.sampled_from((0, 1)),
        doc_id=st.sampled_from(DOCS),
        op=st.sampled_from(("upsert", "upsert", "upsert", "delete")),
        kind=st.sampled_from(("document", "document", "qa")),
        agents=audience,
        pinned=st.sampled_from(((), ("bot",))),
    )
    filters = st.sampled_from(
        (
            {},
            {"tags": ("shared",)},
            {"tags": ("only-{mark}",)},
            {"sources": ("help",)},
            {"directory": ("a/",)},
            {"kinds": ("qa",)},
            {"kinds": ("document",), "tags": ("shared", "only-{mark}")},
        )
    )
    asks = st.builds(
        Ask,
        tenant=st.sampled_from((0, 1, 2)),
        of=st.sampled_from((0, 1)),
        text=st.sampled_from(
            (
                "What does the Harbour Gateway ask for?",
                "What does the Harbour Gateway ask for?",  # often, so that answers are kept
                "Tide Service of {mark}",
                "what is kept for a day by {tenant}?",
                "{mark}",
            )
        ),
        agent=st.sampled_from(AGENTS),
        profile=st.sampled_from(("general", "general", "support", "knowledge-base")),
        explain=st.booleans(),
        filters=filters,
    )
    reads = st.builds(Read, tenant=st.sampled_from((0, 1, 2)), doc_id=st.sampled_from(DOCS))
    together = st.lists(st.one_of(edits, edits, asks, asks, reads), min_size=2, max_size=5)
    first = st.tuples(*(_first(edits, tenant) for tenant in (0, 1))).map(list)
    return st.tuples(first, st.lists(together, min_size=2, max_size=5)).map(lambda found: [found[0], *found[1]])


def _first(edits: st.SearchStrategy[Edit], tenant: int) -> st.SearchStrategy[Step]:
    """Return a document that both have from the start, so that there is something to leak."""
    return edits.map(
        lambda edit: Edit(tenant=tenant, doc_id=DOCS[0], op="upsert", kind=edit.kind, agents=(), pinned=edit.pinned)
    )
