"""One running pipeline for all end-to-end tests; each test uses documents, and where it matters a tenant, of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from streams.embedded.stack import Stack
from tests.pipeline import Pipeline, running


@pytest.fixture(scope="session")
async def pipeline(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pipeline]:
    async with running(stack, tmp_path_factory.mktemp("pipeline")) as started:
        yield started
