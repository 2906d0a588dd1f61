"""What most subcommands share: the tenant, the client, the name of a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streams import settings
from streams.errors import ConfigurationError, Invalid

if TYPE_CHECKING:
    from schemas.documents import DocKey
    from streams.gateways.client import Client

Decorated = Callable[..., Any]


def tenant_option(function: Decorated) -> Decorated:
    """Add --tenant."""
    return click.option("--tenant", required=True, metavar="NAME", help="The organization; `up` uses `demo`.")(function)


def client(found: settings.Settings) -> Client:
    """Return a client for the cluster of the settings, not yet started."""
    from streams.gateways.client import Client  # noqa: PLC0415  the help must not wait for the Kafka library

    return Client(bootstrap=settings.need(found.kafka, settings.KAFKA), fast_fetch=found.fast_fetch)


def document(name: str, tenant: str) -> DocKey:
    """Read SOURCE/DOC: the source is what stands before the first slash; raise Invalid."""
    from streams.gateways.wording import document_key  # noqa: PLC0415

    source, slash, doc_id = name.partition("/")
    if not slash:
        raise Invalid(f"{name!r} must be SOURCE/DOC, such as help/billing/refunds.md", field="document")
    return document_key(tenant, source, doc_id)


def check_names(tenant: str | None, agents: Sequence[str] = ()) -> None:
    """Raise ConfigurationError, which names the option, for what is no name of a tenant or an agent."""
    from streams.domain import api_keys  # noqa: PLC0415  the help must not wait for the schemas

    for option, name, tenants in (("--tenant", tenant, True), *(("--agent", agent, False) for agent in agents)):
        if name is None:
            continue
        try:
            api_keys.check_names(name if tenants else "x", () if tenants else (name,))
        except Invalid as error:
            raise ConfigurationError(f"{option} {error.message}") from None


def wanted_version(text: str) -> dict[str, Any]:
    """Read SOURCE/DOC=VERSION into the fields of a MinVersion; raise ConfigurationError."""
    name, _, version = text.rpartition("=")
    source, _, doc_id = name.partition("/")
    if not (source and doc_id and version.isascii() and version.isdigit()):
        raise ConfigurationError(
            f"--min-version {text!r} must be SOURCE/DOC=VERSION, such as help/billing/refunds.md=3"
        )
    return {"source": source, "doc_id": doc_id, "version": int(version)}


def memory(found: settings.Settings, tenant: str, source: str) -> Path:
    """Return the file that remembers what was published of a source to the cluster of the settings."""
    from streams.sources import state  # noqa: PLC0415

    # The embedded broker changes its port from run to run and is always the same one.
    return state.file_of(found.data_dir, tenant, source, str(settings.given().kafka or ""))
