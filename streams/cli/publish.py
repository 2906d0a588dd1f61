"""rankstream publish: raw document changes, or CloudEvents, one a line."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streams import settings
from streams.cli import connect, console
from streams.errors import Invalid

if TYPE_CHECKING:
    from schemas.documents import DocumentChange


@click.command("publish", short_help="Publish raw document changes or CloudEvents.")
@click.argument("path", metavar="EVENTS.jsonl", type=click.Path(path_type=Path))
@click.option("--wait", is_flag=True, help="Print the receipt of each change as it comes.")
@click.option("--timeout", default=60.0, show_default=True, help="With --wait: seconds without any receipt.")
@click.option("--bulk", is_flag=True, help="A first load: edits and questions do not queue behind it.")
def command(path: Path, wait: bool, timeout: float, bulk: bool) -> int:
    """Publish DocumentChange objects or structured CloudEvents, one a line; - reads standard input.

    A line that cannot be published is reported with its number and field; the others are published all the same.
    """
    return asyncio.run(_publish(settings.load(), path, wait, timeout, bulk))


async def _publish(found: settings.Settings, path: Path, wait: bool, timeout: float, bulk: bool) -> int:
    from schemas import codec  # noqa: PLC0415

    lines = _lines(path)
    numbers: dict[tuple[object, int], int] = {}
    bad = delivered = 0

    def changes() -> Iterator[DocumentChange]:
        nonlocal bad
        for number, line in lines:
            try:
                change = _read(line)
            except Invalid as error:
                bad += 1
                console.note(console.printable(f"line {number}: {error}"))
                continue
            numbers[change.key, change.version] = number
            yield change

    async with connect.client(found) as client:
        async for published in client.deliver_many(changes(), wait=wait, timeout=timeout, bulk=bulk):
            delivered += published.delivered
            if published.error is not None:
                bad += 1
                number = numbers[published.key, published.version]
                console.note(console.printable(f"line {number}: {published.error}"))
            elif published.status is not None:
                console.say(codec.encode(published.status).decode())
                bad += published.status.status == "failed"
    console.note(f"{delivered} of {len(lines)} published" + (f", {bad} with a complaint" if bad else ""))
    return 1 if bad else 0


def _read(line: bytes) -> DocumentChange:
    import msgspec  # noqa: PLC0415

    from schemas.cloudevents import read_document_change  # noqa: PLC0415
    from schemas.codec import InvalidMessage  # noqa: PLC0415
    from streams.gateways.wording import invalid  # noqa: PLC0415

    try:
        data = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        data = None  # complained of below
    fields = data if isinstance(data, dict) else {}
    # Told apart by what every CloudEvent has.
    headers = {"content-type": b"application/cloudevents+json"} if "specversion" in fields else {}
    try:
        return read_document_change(line, headers)
    except InvalidMessage as error:
        raise invalid(error, fields) from error


def _lines(path: Path) -> list[tuple[int, bytes]]:
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}", field="path") from error
    return [(number, line) for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
