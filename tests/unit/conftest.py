"""Records and processors for tests that need no broker."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from schemas import codec
from schemas.base import Message
from streams.wire import Record

_offsets = itertools.count()


def record_of(
    message: Message | bytes | None, *, key: bytes | None = b"k", headers: dict[str, bytes] | None = None
) -> Record:
    """Return a consumed record that carries a message or raw bytes."""
    value = codec.encode(message) if isinstance(message, Message) else message
    return Record(
        topic="t", partition=3, offset=next(_offsets), timestamp=1_000.0, key=key, value=value, headers=headers or {}
    )


@pytest.fixture
def record() -> Callable[..., Record]:
    return record_of
