"""rankstream version: which code this is, and whether it is the code that was released."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import click

from streams import release
from streams.cli import console


@click.command("version", short_help="Print the version, or compare the code with the release.")
@click.option("--manifest", "printed", is_flag=True, help="Print the hash of every file, as sha256sum does.")
@click.option("--verify", is_flag=True, help="Print what differs from the manifest of the image; exit 1 if anything.")
@click.option("--against", type=click.Path(path_type=Path), help="Verify against another manifest than the image's.")
def command(printed: bool, verify: bool, against: Path | None) -> int:
    """Print the version and twelve characters that stand for all files of the code."""
    manifest = against or release.MANIFEST
    verify = verify or against is not None
    wanted = release.manifest(manifest) if verify else {}
    found = release.hashes()
    if printed:
        console.say(release.text(found).rstrip("\n"))
        return 0
    console.say(f"rankstream {_version()} ({release.identity(found)}, {len(found)} files)")
    if not verify:
        return 0
    differences = release.differences(wanted, found)
    for line in differences:
        console.say(line)
    console.say(f"{len(differences)} files differ from {manifest}" if differences else f"as {manifest} says")
    return 1 if differences else 0


def _version() -> str:
    try:
        return metadata.version("rankstream")
    except metadata.PackageNotFoundError:  # a checkout that is not installed
        return "unreleased"
