"""A question answered without the bus: the same handlers on the same stores, called in one process."""

from __future__ import annotations

import asyncio
import itertools
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from bench.corpus import TENANT
from schemas.queries import Expected, PreparedQuery
from schemas.replies import QueryReply
from streams.bootstrap import Resources
from streams.gateways import questions
from streams.processor import Processor
from streams.processors import catalogue
from streams.processors.fuse import FUSE
from streams.processors.prepare import PREPARE
from streams.settings import Settings
from streams.wire import Outgoing, Record


@dataclass(frozen=True, kw_only=True)
class Direct:
    """The handlers of the query side with what they need."""

    deps: dict[str, Any]  # by processor
    legs: Sequence[Processor]
    offsets: Iterator[int] = field(default_factory=itertools.count)

    async def ask(self, text: str, *, at_once: bool) -> QueryReply:
        """Return the answer; the legs run one after another, or `at_once`."""
        asked = PREPARE.reads(self._record(text), PREPARE.source)
        prepared = [sent.message for sent in await self._call(PREPARE, asked)]
        (query,) = (message for message in prepared if isinstance(message, PreparedQuery))
        (expected,) = (message for message in prepared if isinstance(message, Expected))
        if at_once:
            found = await asyncio.gather(*(self._call(leg, query) for leg in self.legs))
        else:
            found = [await self._call(leg, query) for leg in self.legs]
        for results in found:
            for result in results:
                await self._call(FUSE, result.message)
        (answer,) = await self._call(FUSE, expected)
        assert isinstance(answer.message, QueryReply)
        return answer.message

    def _record(self, text: str) -> Record:
        query_id = uuid.uuid4().hex
        _, value = questions.encoded({"query_id": query_id, "tenant": TENANT, "text": text, "cache": False})
        return Record(
            topic=PREPARE.source.name,
            partition=0,
            offset=next(self.offsets),
            timestamp=time.time(),
            key=query_id.encode(),
            value=value,
            headers=dict(questions.headers(query_id, 0, questions.new_traceparent())),
        )

    async def _call(self, processor: Processor, message: Any) -> Sequence[Outgoing]:
        return await processor.handle(message, self.deps[processor.name])


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Direct]:
    """Open stores and model once more, apart from those of the processors."""
    resources = Resources(settings)
    try:
        deps = {processor.name: await resources.deps(processor) for processor in catalogue.QUERY}
        legs = [processor for processor in catalogue.QUERY if processor.name.startswith("retrieve-")]
        yield Direct(deps=deps, legs=legs)
    finally:
        await resources.close()
