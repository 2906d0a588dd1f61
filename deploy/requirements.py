"""Prints the dependencies of pyproject.toml, and of the extras named: `python deploy/requirements.py bge`."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def requirements(pyproject: str, extras: list[str]) -> list[str]:
    """Return the requirements, one a line of pip's file; raise KeyError for an extra that is not there."""
    project = tomllib.loads(pyproject)["project"]
    found: list[str] = list(project["dependencies"])
    for extra in extras:
        found += project["optional-dependencies"][extra]
    return found


if __name__ == "__main__":
    sys.stdout.write("".join(f"{line}\n" for line in requirements(PYPROJECT.read_text(), sys.argv[1:])))
