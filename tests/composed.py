"""docker-compose.yml as a test reads it: its services, and the environment that a container of one has."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from deploy import compose

ROOT = Path(__file__).parents[1]
DOCUMENT: dict[str, Any] = yaml.safe_load((ROOT / compose.FILE).read_text())
SERVICES: dict[str, dict[str, Any]] = DOCUMENT["services"]


def environment(service: dict[str, Any]) -> dict[str, str]:
    """Return what a service's files that must be there and its `environment` set; a default stands for its variable."""
    given: dict[str, str] = {}
    for file in service["env_file"]:
        if isinstance(file, str):
            lines = (ROOT / file).read_text().splitlines()
            given |= dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    given |= {name: str(text) for name, text in service["environment"].items()}
    return {name: re.sub(r"\$\{\w+:-([^}]*)}", r"\1", text) for name, text in given.items()}
