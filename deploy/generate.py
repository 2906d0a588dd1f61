"""Writes what is made from the catalogue for those who deploy: `python -m deploy.generate`; `--check` only compares."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from deploy import alerts, compose, dashboards, keda, kubernetes, postgres_roles, strimzi
from schemas.generate import main
from streams.processors import catalogue
from topics.catalogue import ALL as TOPICS

ROOT = Path(__file__).parents[1]


def files() -> dict[str, bytes]:
    """Return what the files say, by path from the project's folder."""
    text = compose.rendered((ROOT / compose.FILE).read_text(), catalogue.ALL)
    return {
        compose.FILE: text.encode(),
        **kubernetes.files(catalogue.ALL),
        **keda.files(catalogue.ALL),
        **strimzi.files(TOPICS, catalogue.ALL),
        **postgres_roles.files(catalogue.ALL),
        **alerts.files(),
        **dashboards.files(),
    }


def forgotten(wanted: Mapping[str, bytes]) -> list[Path]:
    """Return the files of processors that are no more."""
    folder = ROOT / kubernetes.FOLDER
    return sorted(path for path in folder.glob("*.yaml") if f"{kubernetes.FOLDER}/{path.name}" not in wanted)


if __name__ == "__main__":
    found = files()
    for old in forgotten(found) if "--check" not in sys.argv else ():
        old.unlink()
    sys.exit(main(found, folder=ROOT) or bool(forgotten(found)))
