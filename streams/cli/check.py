"""rankstream check: all that is wrong with the settings, the servers and the rights, at once."""

from __future__ import annotations

import asyncio

import click

from streams import settings
from streams.cli import console


@click.command("check", short_help="Check all settings, connections and rights; leave all as it is.")
@click.argument("users", nargs=-1, metavar="[PROCESSOR|USER]...")
def command(users: tuple[str, ...]) -> int:
    """Print the settings in effect with secrets masked, and check every connection and every right.

    Rights on Kafka and Postgres are those of the users named (a processor, or clients, gateway, log-shipper, operator,
    probe, scaler); of all processors where none is. Exit 2: a setting, a right, a topic or the database must be
    changed; 1: a server does not answer.
    """
    from streams.cli import acls, checks, effective  # noqa: PLC0415
    from streams.processors import rights, store_roles  # noqa: PLC0415

    everyone = rights.of_everyone()
    chosen = acls.chosen(everyone, users or [name for name in everyone if name not in rights.OTHERS])
    found, problems = settings.read()
    found = settings.with_running(found)
    table = list(effective.lines(found))
    width = max(len(name) for name, _ in table)
    for name, value in table:
        console.say(f"{name:<{width}}  {value}")
    console.say()
    wanted = list(dict.fromkeys(right for granted in chosen.values() for right in granted))
    findings = asyncio.run(checks.Checks(found, wanted, store_roles.of_users(chosen), chosen).run())
    width = max(len(each.name) for each in findings)
    for each in findings:
        console.say(f"{each.name:<{width}}  {each.state}{f': {each.said}' if each.said else ''}")
    for name, meant in effective.unknown(settings.names_given()):
        console.note(f"note: {name} is no setting{f', {meant} is' if meant else ''}")
    # Last, where they are read: each on a line of its own.
    for problem in problems:
        console.note(f"rankstream: {problem}")
    states = {each.state for each in findings}
    return 2 if problems or checks.WRONG in states else 1 if checks.FAILED in states else 0
