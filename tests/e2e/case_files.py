"""Acceptance cases as data: the YAML files of tests/cases/acceptance, each with tenants of its own."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml

FOLDER = Path(__file__).parents[1] / "cases" / "acceptance"
PATHS = sorted(FOLDER.glob("*.yaml"))
SOURCE = "cases"  # of every document

# What a `generate` expression may use.
_SCOPE: Mapping[str, Any] = {"__builtins__": {}, "range": range, "chr": chr, "str": str, "len": len}


class Event(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document event, as a case gives it."""

    doc_id: str
    title: str = ""
    content: str = ""
    content_type: str = "text/markdown"
    generate: str | None = None  # an expression that gives the content
    kind: str = "document"
    tenant: str = "acme"
    version: int = 1
    op: str = "upsert"
    language: str | None = None
    uri: str = ""
    trust: str = "internal"


class Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question, as a case gives it."""

    text: str = ""
    generate: str | None = None  # an expression that gives the text
    tenant: str = "acme"
    profile: str = "general"  # `each`: under every profile that the case speaks about
    language: str | None = None
    top_k: int | None = None
    after: int | None = None  # asked once the first n events are settled; absent: all


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One acceptance case; events count from 1, questions from 0."""

    name: str
    kind: str
    source: str  # the public report that it was made after
    documents: tuple[Event, ...]
    queries: tuple[Question, ...] = ()
    expect: tuple[dict[str, Any], ...]
    why: str


def read(path: Path) -> Case:
    """Read a case, with its generated texts; its tenants are as written."""
    case = msgspec.convert(yaml.safe_load(path.read_text(encoding="utf-8")), Case)
    replace = msgspec.structs.replace
    return replace(
        case,
        documents=tuple(replace(e, content=_generated(e.generate, e.content)) for e in case.documents),
        queries=tuple(replace(q, text=_generated(q.generate, q.text)) for q in case.queries),
    )


def _generated(expression: str | None, given: str) -> str:
    return given if expression is None else str(eval(expression, dict(_SCOPE)))


def own_tenants(case: Case) -> Case:
    """Return the case with tenants that no other case and no other run has.

    Names keep what makes them alike or strange: `acm` stays the start of `acme`, `ACME` its upper case. What is no
    name at all (`""`, `*`) stays as it is, since it must match nobody.
    """
    prefix = f"{case.name}.{uuid.uuid4().hex[:6]}."

    def own(tenant: str) -> str:
        if not tenant[:1].isalpha():
            return tenant
        return f"{prefix.upper() if tenant.isupper() else prefix}{tenant}"

    replace = msgspec.structs.replace
    return replace(
        case,
        documents=tuple(replace(event, tenant=own(event.tenant)) for event in case.documents),
        queries=tuple(replace(query, tenant=own(query.tenant)) for query in case.queries),
    )
