"""rankstream dlq: what died, why, and sending it back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streams import settings
from streams.cli import console
from streams.errors import ConfigurationError, RankstreamError

if TYPE_CHECKING:
    from streams.domain.letter_choice import Choice
    from streams.gateways.dead_letters import Found, Redriven
    from topics.connection import KafkaConnection

SECONDS = 30.0  # to read the topics in

Decorated = Callable[..., Any]


@click.group("dlq", short_help="List, show, re-drive or discard dead letters.")
def command() -> None:
    """List what could not be processed, show why, send it back once the cause is gone, or be done with it.

    An ADDRESS is a topic, a partition or a record, as `chunks.dlq`, `chunks.dlq/2` or `chunks.dlq/2/17`; without `.dlq`
    it is the one that the letter came from.
    """


def _choosing(function: Decorated) -> Decorated:
    """Add what chooses letters."""
    for add in (
        click.option("--timeout", default=SECONDS, show_default=True, help="Seconds to read the topics in."),
        click.option("--since", metavar="T", help="Died since: 90s, 15m, 2h, 7d, or a date and time (UTC)."),
        click.option("--class", "error_class", metavar="CLASS", help="decode, validation, timeout, bug …"),
        click.option("--stage", metavar="STAGE", help="The processor at which it died."),
        click.argument("addresses", metavar="[ADDRESS]...", nargs=-1),
    ):
        function = add(function)
    return function


@command.command("list")
@_choosing
@click.option("--all", "everything", is_flag=True, help="Also what was re-driven or discarded.")
@click.option("--each", is_flag=True, help="One line a letter, with its address.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def show_all(everything: bool, each: bool, as_json: bool, timeout: float, **chosen: Any) -> int:
    """Count the dead letters by topic, stage and error class."""
    from streams.cli import letters  # noqa: PLC0415
    from streams.domain.letters import WAITING  # noqa: PLC0415

    found = _read(_choice(**chosen), timeout)
    shown = [letter for letter in found.letters if everything or each is False or letter.state in WAITING]
    if as_json:
        console.say(letters.listed_as_json(shown, complete=found.complete, each=each, everything=everything))
    else:
        for line in letters.listed(shown, each=each, everything=everything):
            console.say(line)
    if not found.complete:
        console.note(f"stopped reading after {timeout:g} s, there may be more; --timeout gives it longer")
    return 0 if found.complete else 1


@command.command("show")
@click.argument("address", metavar="TOPIC/PARTITION/OFFSET")
@click.option("--raw", type=click.Path(path_type=Path), help="Write the record's value to a file; - is stdout.")
@click.option("--timeout", default=SECONDS, show_default=True, help="Seconds to read the topic in.")
def show(address: str, raw: Path | None, timeout: float) -> int:
    """Show a dead letter: why it died, its headers and its value. What looks like a secret is hidden."""
    from streams.cli import letters  # noqa: PLC0415
    from streams.cli.dlq_arguments import address_of  # noqa: PLC0415
    from streams.domain.letter_choice import Choice  # noqa: PLC0415
    from streams.gateways import dead_letters  # noqa: PLC0415

    at = address_of(address)
    if at.offset is None:
        raise ConfigurationError(f"{address}: say which record, as {at.topic}/0/17; `rankstream dlq list --each` shows")
    found = _read(Choice(addresses=(at,)), timeout)
    if not found.letters:
        unread = "" if found.complete else f"; stopped reading after {timeout:g} s"
        console.note(f"{address}: there is no such dead letter{unread}")
        return 1
    for number, letter in enumerate(found.letters):
        body = asyncio.run(dead_letters.body(_kafka(), letter, seconds=timeout))
        if body is None:
            raise RankstreamError(f"{letter.place}: it is not there any more")
        if raw is not None:
            letters.write(raw, body.value or b"")
            return 0
        if number:
            console.say()
        for line in letters.shown(letter, body):
            console.say(line)
    return 0


@command.command("redrive")
@_choosing
@click.option("--all", "everything", is_flag=True, help="Every open letter, where nothing else is said.")
@click.option("--parked", is_flag=True, help="Also what died twice the same way.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
def redrive(everything: bool, parked: bool, dry_run: bool, timeout: float, **chosen: Any) -> int:
    """Send letters back to the topic that they came from, as they were, and wait until the broker has them.

    Nothing goes back twice; what died twice the same way stays unless --parked. Questions never go back: their senders
    were answered.
    """
    from streams.cli import dlq_arguments, letters  # noqa: PLC0415
    from streams.gateways import dead_letters  # noqa: PLC0415

    choice = _choice(**chosen)
    dlq_arguments.check_is_said(choice, everything)
    dlq_arguments.check_redrivable(choice)
    found = _whole(choice, timeout)
    wanted = [each for each in found.letters if each.state == "open" or (parked and each.state == "parked")]
    going = [each for each in wanted if each.origin.topic in dlq_arguments.redrivable()]
    left = letters.left_out(found.letters, going)
    if dry_run:
        for line in letters.listed(going, each=True, everything=True, nothing="nothing to re-drive"):
            console.say(line)
        console.say(f"{letters.count(going)} would be re-driven{left}")
        return 0

    def tell(of: Redriven) -> None:
        if of.error is not None:
            console.note(f"{of.letters[0].place}: {of.error}")

    done = asyncio.run(dead_letters.redrive(_kafka(), going, seconds=timeout, on_done=tell)) if going else []
    sent = [letter for of in done if of.error is None for letter in of.letters]
    failed = sum(of.error is not None for of in done)
    console.say(f"{letters.count(sent)} re-driven{f', {failed} failed' if failed else ''}{left}")
    return 1 if failed else 0


@command.command("discard")
@_choosing
@click.option("--all", "everything", is_flag=True, help="Every letter that is open or parked.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
def discard(everything: bool, dry_run: bool, timeout: float, **chosen: Any) -> int:
    """Be done with letters that need no work: they count no longer, and stay on their topic until it forgets them."""
    from streams.cli import dlq_arguments, letters  # noqa: PLC0415
    from streams.domain.letters import WAITING  # noqa: PLC0415
    from streams.gateways import dead_letters  # noqa: PLC0415

    choice = _choice(**chosen)
    dlq_arguments.check_is_said(choice, everything)
    going = [letter for letter in _whole(choice, timeout).letters if letter.state in WAITING]
    if dry_run:
        for line in letters.listed(going, each=True, everything=True, nothing="nothing to discard"):
            console.say(line)
        console.say(f"{letters.count(going)} would be discarded")
        return 0
    if going:
        asyncio.run(dead_letters.discard(_kafka(), going))
    console.say(f"{letters.count(going)} discarded")
    return 0


def _kafka() -> KafkaConnection:
    return settings.need(settings.load().kafka, settings.KAFKA)


def _choice(addresses: tuple[str, ...], stage: str | None, error_class: str | None, since: str | None) -> Choice:
    from streams.cli import dlq_arguments  # noqa: PLC0415

    return dlq_arguments.choice_of(addresses, stage=stage, error_class=error_class, since=since, now=time.time())


def _read(choice: Choice, seconds: float) -> Found:
    from streams.gateways import dead_letters  # noqa: PLC0415

    if seconds <= 0:
        raise ConfigurationError(f"--timeout is {seconds:g}; give it a number of seconds above 0")
    return asyncio.run(dead_letters.read(_kafka(), seconds=seconds, choice=choice))


def _whole(choice: Choice, seconds: float) -> Found:
    """Return the letters; raise RankstreamError when not all was read: a letter may be settled further on."""
    found = _read(choice, seconds)
    if not found.complete:
        raise RankstreamError(
            f"the dead letter topics could not be read to their ends within {seconds:g} s; give --timeout more, or "
            "name a topic"
        )
    return found
