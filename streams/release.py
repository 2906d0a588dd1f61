"""Whether the code that runs is the code that was released: hashes of all files, against a manifest of the build.

The manifest is made when the image is built, in the form of `sha256sum`, and lies beside the packages, not in them.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path

from streams.errors import ConfigurationError

PACKAGES = ("schemas", "topics", "streams")
INSTALLED = Path(__file__).parents[1]
MANIFEST = Path(sys.prefix) / "rankstream.sha256"

Hashes = Mapping[str, str]  # hex SHA-256 by path from the folder of the packages


def hashes(folder: Path = INSTALLED) -> dict[str, str]:
    """Return the hash of each file of our packages below a folder, but for what Python compiles."""
    paths = sorted(path for package in PACKAGES for path in (folder / package).rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in paths
        if "__pycache__" not in path.parts
    }


def text(found: Hashes) -> str:
    """Return hashes as `sha256sum` writes them."""
    return "".join(f"{value}  {name}\n" for name, value in found.items())


def manifest(path: Path = MANIFEST) -> dict[str, str]:
    """Read a manifest; raise ConfigurationError where there is none, or it is none."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ConfigurationError(
            f"the manifest {path} cannot be read ({why}): images have one, `rankstream version --manifest` prints one"
        ) from error
    found = {name: value for value, _, name in (line.partition("  ") for line in lines)}
    if not found or not all(len(value) == 64 and name for name, value in found.items()):
        raise ConfigurationError(f"the manifest {path} is none: a line is a hash, two spaces and a path")
    return found


def differences(wanted: Hashes, found: Hashes) -> tuple[str, ...]:
    """Return a line for each file that is not as released, by its path."""
    said = []
    for name in sorted(wanted.keys() | found.keys()):
        if name not in found:
            said.append(f"missing  {name}")
        elif name not in wanted:
            said.append(f"added    {name}")
        elif wanted[name] != found[name]:
            said.append(f"changed  {name}")
    return tuple(said)


def identity(found: Hashes) -> str:
    """Return twelve characters that stand for all of the code."""
    return hashlib.sha256(text(found).encode()).hexdigest()[:12]
