"""The one place where a scope becomes a condition of a query; its SQL is sql/visible.sql."""

from __future__ import annotations

from typing import Any

from streams.domain import lexemes
from streams.domain.scope import Scope


def visible(scope: Scope) -> dict[str, Any]:
    """Return the parameters of sql/visible.sql: null for what the caller does not narrow."""
    filters = scope.filters
    return {
        "tenant": scope.tenant,
        "generation": scope.generation,
        "agent": scope.agent,
        "sources": list(filters.sources) or None,
        "tags": list(filters.tags) or None,
        "directory": scope.directory or None,
        "kinds": list(filters.kinds) or None,
    }


def owner(tenant: str, generation: str) -> str:
    """Return the lexeme, quoted, that marks the texts of a tenant in a generation; no word of a text has its form."""
    return lexemes.quote(f"@{generation}/{tenant}")
