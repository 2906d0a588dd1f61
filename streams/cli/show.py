"""rankstream show: a document as it is indexed."""

from __future__ import annotations

import asyncio
import textwrap
from typing import TYPE_CHECKING

import click

from streams import settings
from streams.cli import connect, console

if TYPE_CHECKING:
    from schemas.chunks import Chunk
    from streams.domain.versions import VersionView

# Columns: a child is a piece of the parent above it, a question leads to it.
INDENT = {"document": 2, "parent": 2, "child": 6, "question": 6}


@click.command("show", short_help="Show a document as it is indexed.")
@click.argument("name", metavar="SOURCE/DOC")
@connect.tenant_option
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def command(name: str, tenant: str, as_json: bool) -> int:
    """Show the versions of a document and the chunks that are indexed of it.

    The source is what stands before the first slash.
    """
    from streams.cli import stored  # noqa: PLC0415

    key = connect.document(name, tenant)
    views = asyncio.run(stored.versions(settings.load(), key))
    if not views:
        console.note(f"{console.printable(name)}: tenant {tenant} has no such document")
        return 1
    if as_json:
        import msgspec  # noqa: PLC0415

        body = {"tenant": tenant, "source": key.source, "doc_id": key.doc_id, "versions": views}
        console.say(msgspec.json.encode(body).decode())
        return 0
    for view in views:
        _version(view)
    return 0


def _version(view: VersionView) -> None:
    waits = f", waits for {', '.join(view.waits)}" if view.waits else ""
    reason = f": {view.reason}" if view.reason else ""
    head = f"version {view.version} · {view.state}{waits}{reason} · {view.kind} · {view.title}"
    console.say(click.style(console.printable(head), bold=view.state == "live"))
    for chunk in view.chunks:
        _chunk(chunk)


def _chunk(chunk: Chunk) -> None:
    margin = " " * INDENT[chunk.level]
    path = " › ".join(chunk.heading_path) or "(no heading)"
    console.say(click.style(f"{margin}{chunk.level} {chunk.id}  {console.printable(path)}", fg="cyan"))
    text = console.printable(" ".join(chunk.body.split()))
    for line in textwrap.wrap(text, width=console.width() - 4, max_lines=2, placeholder=" …"):
        console.say(f"{margin}  {line}")
