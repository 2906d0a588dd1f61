"""Writes what is made from the catalogue for those who deploy: `python -m deploy.generate`; `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from deploy import compose
from schemas.generate import main
from streams.processors import catalogue

ROOT = Path(__file__).parents[1]


def files() -> dict[str, bytes]:
    """Return what the files say, by path from the project's folder."""
    text = compose.rendered((ROOT / compose.FILE).read_text(), catalogue.ALL)
    return {compose.FILE: text.encode()}


if __name__ == "__main__":
    sys.exit(main(files(), folder=ROOT))
