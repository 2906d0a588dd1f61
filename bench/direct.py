"""A question answered without the bus: the same handlers on the same stores, called in one process."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bench.corpus import TENANT
from schemas.queries import Expected, PreparedQuery, QueryRequest, ReplyTo
from schemas.replies import QueryReply
from streams.bootstrap import Resources
from streams.processor import Processor
from streams.processors import catalogue
from streams.processors.fuse import FUSE
from streams.processors.prepare import PREPARE, Asked
from streams.settings import Settings
from streams.wire import Outgoing
from topics.catalogue import REPLIES


@dataclass(frozen=True, kw_only=True)
class Direct:
    """The handlers of the query side with what they need."""

    deps: dict[str, Any]  # by processor
    legs: Sequence[Processor]

    async def ask(self, text: str, *, at_once: bool) -> QueryReply:
        """Return the answer; the legs run one after another, or `at_once`."""
        request = QueryRequest(query_id=uuid.uuid4().hex, tenant=TENANT, text=text)
        asked = Asked(request=request, reply_to=ReplyTo(topic=REPLIES.name, partition=0), at=time.time())
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
