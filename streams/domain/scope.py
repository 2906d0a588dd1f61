"""Whose text a search may see: the one value every store's filter is built from."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.queries import Filters, PreparedQuery


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The tenant, agent and generation of a question, and what its caller narrows it to."""

    tenant: str
    generation: str
    agent: str | None = None  # none: only what is open to all agents
    filters: Filters = field(default_factory=Filters)

    @property
    def directory(self) -> str:
        """The directory that doc ids must be under, with its closing slash; empty: anywhere."""
        given = self.filters.directory
        return given if not given or given.endswith("/") else f"{given}/"


def of(query: PreparedQuery) -> Scope:
    """Return the scope of a question."""
    return Scope(tenant=query.tenant, generation=query.generation, agent=query.agent, filters=query.filters)
