"""The errors of Qdrant's client as ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from streams.errors import ConfigurationError, Invalid, RankstreamError, StoreUnavailable

_GONE = (502, 503, 504)  # what a proxy says of a server that is not there


@asynccontextmanager
async def translated(
    doing: str, seconds: float, *, missing: type[RankstreamError] = StoreUnavailable
) -> AsyncIterator[None]:
    """Run a block within `seconds` and raise our errors for its own.

    A collection that is `missing` makes a writer wait until it is there; a question that names it is Invalid.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise StoreUnavailable(f"qdrant did not {doing} in {seconds:g} s") from error
    except UnexpectedResponse as error:
        raise _by_status(doing, error, missing) from error
    except (ApiException, httpx.HTTPError, OSError) as error:
        cause = getattr(error, "source", error)
        raise StoreUnavailable(f"qdrant is not there to {doing}: {cause or type(cause).__name__}") from error
    except QdrantException as error:
        raise StoreUnavailable(f"qdrant is too busy to {doing}: {error}") from error


def _by_status(doing: str, error: UnexpectedResponse, missing: type[RankstreamError]) -> RankstreamError:
    status = error.status_code or 0
    said = f"{status} {error.content.decode(errors='replace')[:300]}"
    if status in (401, 403):
        return ConfigurationError(f"QDRANT_API_KEY: qdrant refused to {doing}: {said}")
    if status == 404:
        return missing(f"qdrant has no collection to {doing}: {said}; a processor makes it when it starts")
    if status in _GONE:
        return StoreUnavailable(f"qdrant is not there to {doing}: {said}")
    if status in (408, 429) or status >= 500:
        return StoreUnavailable(f"qdrant could not {doing}: {said}")
    return Invalid(f"qdrant refused to {doing}: {said}")
