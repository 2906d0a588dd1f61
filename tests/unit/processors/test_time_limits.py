"""How long an attempt may take: a store that says nothing must be noticed by its own limits first.

Else an outage counts as the record's fault, and the record becomes a dead letter.
"""

from __future__ import annotations

import pytest

from streams.adapters.postgres import HOLD_SECONDS, OPEN_SECONDS, WRITE_SECONDS
from streams.domain.generation import MOST_ACTIVE
from streams.processors.catalogue import ALL

# What one attempt does in Postgres, one after the other: writes, and writes elsewhere under a hold.
STEPS = {
    "chunk": (1 + MOST_ACTIVE, 0),  # which generations there are, and a version in each
    "chunk-bulk": (1 + MOST_ACTIVE, 0),
    "replay": (3, 0),
    "index-text": (1, 0),
    "index-graph": (1, 0),
    "index-vectors": (0, 1),
    "publish-version": (1, 1),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_writer_s_stores_give_up_before_it_does(name: str) -> None:
    (processor,) = [each for each in ALL if each.name == name]
    writes, holds = STEPS[name]
    longest = writes * (WRITE_SECONDS + OPEN_SECONDS) + holds * (HOLD_SECONDS + OPEN_SECONDS)
    assert processor.time_limit > longest
