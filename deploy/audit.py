"""What can be said of the supply of a release without asking anybody: `python -m deploy.audit`.

Every dependency, also of dependencies, is pinned to one version; no tracked file holds what looks like a secret, but
for those that were looked at and stand in .secrets.baseline (`--update` writes it: look at each line that is new).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from detect_secrets.core.secrets_collection import SecretsCollection
from detect_secrets.settings import default_settings
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
BASELINE = ROOT / ".secrets.baseline"
OURS = "rankstream"
BUILDS = ("Makefile", "Dockerfile")  # that name packages themselves
APART = frozenset({"pip-audit"})  # in an environment of its own, which nothing of ours runs in

_PINNED = re.compile(r"==[^*,]+")
_NAMED = re.compile(r"([\w.-]+)==(\d[\w.]*)")

Finding = tuple[str, str, str]  # file, what it looks like, hash


def unpinned(pyproject: str) -> Iterator[str]:
    """Yield the requirements of pyproject.toml that allow more than one version, also those of the build."""
    for text in _required(tomllib.loads(pyproject)):
        requirement = Requirement(text)
        if requirement.name != OURS and not _PINNED.fullmatch(str(requirement.specifier)):
            yield text


def unlisted(pyproject: str, builds: Iterable[str], constraints: str) -> Iterator[str]:
    """Yield what is asked for in a version that constraints.txt does not name, of all extras, installed or not.

    builds: texts of commands that install packages by name==version.
    """
    allowed = _allowed(constraints)
    asked = {
        (canonicalize_name(each.name), str(each.specifier).removeprefix("=="))
        for each in map(Requirement, _required(tomllib.loads(pyproject)))
        if _PINNED.fullmatch(str(each.specifier))
    }
    asked |= {(canonicalize_name(name), version) for text in builds for name, version in _NAMED.findall(text)}
    for name, version in sorted(asked):
        if name not in APART and allowed.get(name) != version:
            yield f"{name}=={version}"


def unconstrained(constraints: str) -> Iterator[str]:
    """Yield what is installed here for rankstream, extras too, in a version that constraints.txt does not name."""
    allowed = _allowed(constraints)
    for name, version in sorted(_installed(OURS, _extras_here(), {}).items()):
        if allowed.get(canonicalize_name(name)) != version:
            yield f"{name}=={version}"


def _required(pyproject: Mapping[str, Any]) -> list[str]:
    project = pyproject["project"]
    extras = (each for extra in project["optional-dependencies"].values() for each in extra)
    return [*project["dependencies"], *extras, *pyproject["build-system"]["requires"]]


def _allowed(constraints: str) -> dict[str, str]:
    lines = (line.partition("#")[0].strip() for line in constraints.splitlines())
    pinned = dict(line.partition(";")[0].strip().split("==") for line in lines if line)
    return {canonicalize_name(name): version for name, version in pinned.items()}


def _extras_here() -> Iterator[str]:
    """Yield the extras that this environment has; .venv-bge has more than .venv."""
    for extra in metadata.metadata(OURS).get_all("Provides-Extra") or ():
        needed = [Requirement(text) for text in metadata.requires(OURS) or ()]
        names = [each.name for each in needed if each.marker and each.marker.evaluate({"extra": extra})]
        if all(_is_here(name) for name in names):
            yield extra


def _is_here(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _installed(name: str, extras: Iterable[str], found: dict[str, str]) -> dict[str, str]:
    """Return the versions of everything that a distribution needs here."""
    wanted = ["", *extras]
    for text in metadata.requires(name) or ():
        requirement = Requirement(text)
        if requirement.marker and not any(requirement.marker.evaluate({"extra": extra}) for extra in wanted):
            continue
        needed = canonicalize_name(requirement.name)
        if needed == OURS or needed in found:
            if needed == OURS:
                _installed(OURS, requirement.extras, found)
            continue
        found[needed] = metadata.version(needed)
        _installed(needed, requirement.extras, found)
    return found


def looks_secret(files: Iterable[str]) -> set[Finding]:
    """Return what in these files looks like a secret."""
    with default_settings():
        collection = SecretsCollection(root=str(ROOT))
        for file in files:
            collection.scan_file(file)
        return {(file, found.type, found.secret_hash) for file, found in collection}


def known(baseline: Mapping[str, list[Mapping[str, str]]]) -> set[Finding]:
    """Return the findings that somebody looked at."""
    return {(file, each["type"], each["hash"]) for file, listed in baseline.items() for each in listed}


def _tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and name != BASELINE.name and (ROOT / name).is_file()]


def _write(found: set[Finding]) -> None:
    baseline: dict[str, list[dict[str, str]]] = {}
    for file, kind, digest in sorted(found):
        baseline.setdefault(file, []).append({"type": kind, "hash": digest})
    BASELINE.write_text(json.dumps(baseline, indent=1) + "\n")


def main(arguments: list[str]) -> int:
    """Print what is amiss, a line each; return 1 when anything is."""
    found = looks_secret(_tracked())
    if "--update" in arguments:
        _write(found)
    pyproject, constraints = ((ROOT / name).read_text() for name in ("pyproject.toml", "constraints.txt"))
    problems = [f"pyproject.toml: {each} is not pinned" for each in unpinned(pyproject)]
    builds = [(ROOT / name).read_text() for name in BUILDS]
    problems += [
        f"constraints.txt: {each} is asked for and not listed" for each in unlisted(pyproject, builds, constraints)
    ]
    problems += [f"constraints.txt: {each} is installed and not listed" for each in unconstrained(constraints)]
    problems += [
        f"{file}: {kind}; if it is none, `python -m deploy.audit --update`"
        for file, kind, _ in sorted(found - known(json.loads(BASELINE.read_text())))
    ]
    for problem in problems:
        sys.stdout.write(f"{problem}\n")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
