"""rankstream profiles: which configurations of a search there are, and what each of them says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec

from streams import settings
from streams.cli import console
from streams.errors import ConfigurationError

if TYPE_CHECKING:
    from streams.domain.profile import Profile


@click.command("profiles", short_help="List the profiles, or show one.")
@click.argument("name", required=False)
def command(name: str | None) -> int:
    """List the profiles, or print the one called NAME as TOML, with what it leaves to the defaults.

    They are the shipped ones and those in the folder RANKSTREAM_PROFILES of this environment; workers read theirs.
    """
    from streams.adapters import profiles  # noqa: PLC0415  the help must not wait for it

    found = profiles.load(settings.given().profiles)
    if name is None:
        header = ("profile", "legs", "score", "floor", "summary")
        for line in table([header, *(_row(profile) for profile in found.by_name.values())]):
            console.say(line)
        return 0
    if name not in found.by_name:
        raise ConfigurationError(f"there is no profile {name!r}; there are {', '.join(found.by_name)}")
    console.say(f"# {found.files[name]}\n{resolved(found.by_name[name])}")
    return 0


def _row(profile: Profile) -> tuple[str, ...]:
    floor = "–" if profile.floor is None else f"{profile.floor:g}"
    return profile.name, ", ".join(profile.legs), profile.score, floor, console.printable(profile.summary)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows as lines, their columns one below the other."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def resolved(profile: Profile) -> str:
    """Return a profile as TOML with all its fields; those that are not set stand in comments."""
    fields = msgspec.structs.asdict(profile)
    return "\n".join(
        f"# {name} is not set" if value is None else f"{name} = {_toml(value)}" for name, value in fields.items()
    )


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(item)}' for key, item in value.items())} }}" if value else "{}"
    if isinstance(value, tuple):
        return f"[{', '.join(_toml(item) for item in value)}]"
    # TOML escapes texts as JSON does, and DEL too; a float keeps its point.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
