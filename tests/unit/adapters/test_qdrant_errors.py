"""Qdrant's errors by what a caller should do about them."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from streams.adapters.qdrant_errors import translated
from streams.errors import ConfigurationError, Invalid, RankstreamError, StoreUnavailable


def status(code: int) -> UnexpectedResponse:
    return UnexpectedResponse(code, "", b'{"status": "why"}', httpx.Headers())


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (status(400), Invalid),
        (status(422), Invalid),
        (status(401), ConfigurationError),
        (status(403), ConfigurationError),
        (status(404), StoreUnavailable),
        (status(408), StoreUnavailable),
        (status(429), StoreUnavailable),
        (status(500), StoreUnavailable),
        (status(502), StoreUnavailable),
        (status(503), StoreUnavailable),
        (ResourceExhaustedResponse("slow down", 1), StoreUnavailable),
        (ResponseHandlingException(httpx.ConnectError("refused")), StoreUnavailable),
        (httpx.ReadTimeout("late"), StoreUnavailable),
        (ConnectionResetError(), StoreUnavailable),
    ],
)
async def test_an_error_becomes_the_one_of_its_kind(raised: Exception, expected: type[RankstreamError]) -> None:
    with pytest.raises(RankstreamError, match=r"qdrant .*write vectors") as caught:
        async with translated("write vectors", 5):
            raise raised
    assert type(caught.value) is expected


async def test_a_call_ends_in_time() -> None:
    with pytest.raises(StoreUnavailable, match=r"in 0\.01 s"):
        async with translated("search vectors", 0.01):
            await asyncio.sleep(5)


async def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError):
        async with translated("search vectors", 5):
            raise ZeroDivisionError
