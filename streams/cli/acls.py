"""rankstream acls: what each user may do, as commands of Kafka, as users of Strimzi, or as users of Postgres."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from streams.cli import console
from streams.errors import ConfigurationError

if TYPE_CHECKING:
    from streams.processors.rights import Right

PRINCIPAL = "User:rankstream-{name}"
FORMATS = ("kafka", "strimzi", "postgres")
COMMAND = 'kafka-acls.sh --bootstrap-server "$BOOTSTRAP" --command-config admin.properties --add'


@click.command("acls", short_help="Print the rights that each user needs on Kafka, or on Postgres.")
@click.option(
    "--processor",
    "names",
    multiple=True,
    metavar="NAME",
    help="Only of these; also clients, gateway, log-shipper, operator, probe, scaler.",
)
@click.option("--format", "form", type=click.Choice(FORMATS), default=FORMATS[0], show_default=True)
@click.option("--principal", default=PRINCIPAL, show_default=True, help="Who a user is there; {name} is replaced.")
def command(names: tuple[str, ...], form: str, principal: str) -> None:
    """Print the rights of every processor, of clients and of the operator; what is not printed is not needed.

    On Postgres users go by their kind of work: `owner` (topics apply), `reader` (questions), `writer` (ingest),
    `operator` and `gateway`; a processor that is named gets a user of its own.
    """
    from streams.processors import rights  # noqa: PLC0415

    if "{name}" not in principal:
        raise ConfigurationError(f"--principal {principal!r} must have {{name}} in it, as {PRINCIPAL}")
    if form == "postgres":
        from streams.cli import postgres_users  # noqa: PLC0415

        lines = postgres_users.statements(names, principal.removeprefix("User:"))
    else:
        lines = (_kafka if form == "kafka" else _strimzi)(chosen(rights.of_everyone(), names), principal)
    for line in lines:
        console.say(line)


def chosen(everyone: Mapping[str, tuple[Right, ...]], names: Sequence[str]) -> dict[str, tuple[Right, ...]]:
    """Return the rights of those who are named, of all for none; raise ConfigurationError for an unknown name."""
    for name in names:
        if name not in everyone:
            raise ConfigurationError(f"there is no user {name!r}; there are {', '.join(everyone)}")
    return {name: granted for name, granted in everyone.items() if not names or name in names}


def _kafka(granted: Mapping[str, tuple[Right, ...]], principal: str) -> Iterator[str]:
    for name, of_user in granted.items():
        who = shlex.quote(principal.replace("{name}", name))
        yield f"# {name}"
        for right in of_user:
            operations = " ".join(f"--operation {operation}" for operation in right.operations)
            pattern = " --resource-pattern-type prefixed" if right.begins else ""
            yield f"{COMMAND} --allow-principal {who} {operations} --{right.kind} {shlex.quote(right.name)}{pattern}"


def _strimzi(granted: Mapping[str, tuple[Right, ...]], principal: str) -> Iterator[str]:
    """Yield the authorization of each user as the YAML that a KafkaUser's spec takes."""
    for name, of_user in granted.items():
        yield f"# {principal.removeprefix('User:').replace('{name}', name)}"
        yield "authorization:"
        yield "  type: simple"
        yield "  acls:"
        for right in of_user:
            resource = acl(right)["resource"]
            fields = ", ".join(f"{key}: {_text(value)}" for key, value in resource.items())
            yield f"    - resource: {{{fields}}}"
            yield f"      operations: [{', '.join(right.operations)}]"


def acl(right: Right) -> dict[str, Any]:
    """Return a right as Strimzi writes it."""
    pattern = "prefix" if right.begins else "literal"
    return {
        "resource": {"type": right.kind, "name": right.name, "patternType": pattern},
        "operations": list(right.operations),
    }


def _text(value: str) -> str:
    return f"'{value}'" if value == "*" else value
