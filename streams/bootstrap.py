"""Builds what each processor needs from the settings; resources are opened once and shared within a process."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from streams import settings as names
from streams.adapters import profiles
from streams.processor import Processor
from streams.processors import (
    chunk,
    embed,
    fuse,
    index_text,
    index_vectors,
    prepare,
    publish_version,
    retrieve_dense,
    retrieve_fulltext,
    retrieve_sparse,
)
from streams.settings import Settings, need

if TYPE_CHECKING:
    from streams.adapters.onnx_embedder import OnnxEmbedder

T = TypeVar("T")


class Resources:
    """The stores and models of one process, opened when first asked for, closed together."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._opened: dict[str, Any] = {}
        self._closers: list[Callable[[], Awaitable[None]]] = []
        self.profiles = profiles.shipped()

    async def _once(self, name: str, open_it: Callable[[], Awaitable[T]]) -> T:
        if name not in self._opened:
            self._opened[name] = await open_it()
        opened: T = self._opened[name]
        return opened

    async def close(self) -> None:
        """Close what was opened, last first."""
        for closer in reversed(self._closers):
            await closer()
        self._closers.clear()
        self._opened.clear()
