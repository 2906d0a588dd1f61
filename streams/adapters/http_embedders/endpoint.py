"""One endpoint over HTTP: time limits, attempts with jitter, and a circuit breaker; errors never say the key."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import aiohttp
import msgspec

from streams.domain import retrying
from streams.domain.breaker import Breaker
from streams.errors import ConfigurationError, Invalid, ModelUnavailable

LARGEST = 64 * 1024 * 1024  # bytes of an answer
SHOWN = 200  # characters of what a provider says
PIECE = 64 * 1024

Read = Callable[[Any], Any]


class _Again(Exception):
    """An attempt failed, and another may not; `asked` are the seconds that the endpoint wants to be left alone."""

    def __init__(self, what: str, *, asked: float | None = None) -> None:
        super().__init__(what)
        self.asked = asked


class Endpoint:
    """Posts JSON to one endpoint. `name` is what errors call it."""

    def __init__(
        self,
        name: str,
        url: str,
        *,
        headers: Mapping[str, str],
        secret: str = "",
        timeout: float,
        attempts: int = 3,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._name = name
        self._url = url
        self._headers = headers
        self._secret = secret
        self._timeout = timeout  # seconds, of an attempt
        self._attempts = attempts
        self._clock = clock
        self._sleep = sleep
        self._session: aiohttp.ClientSession | None = None
        self.breaker = Breaker()

    async def post(self, body: Mapping[str, Any], read: Read, *, seconds: float) -> Any:
        """Return what `read` makes of the answer, after as many attempts as fit into `seconds`.

        `read` raises ValueError for an answer that another attempt may better. Raises ModelUnavailable for an endpoint
        that is down, slow or busy; ConfigurationError for a key, an address or a model that it refuses; Invalid for
        a text that it refuses.
        """
        data, until = msgspec.json.encode(body), self._clock() + seconds
        attempt = 0
        while True:
            attempt += 1
            now = self._clock()
            if wait := self.breaker.wait(now):
                raise ModelUnavailable(f"{self._name}: left alone for {wait:.1f} s, after it failed")
            self.breaker = self.breaker.began(now)
            try:
                found = await self._once(data, read, max(0.001, min(self._timeout, until - now)))
            except _Again as error:
                now = self._clock()
                self.breaker = self.breaker.failed(now, asked=error.asked or 0.0)
                wait = retrying.pause(attempt, random.random(), asked=error.asked)
                if attempt >= self._attempts or now + wait >= until:
                    raise ModelUnavailable(f"{self._name}: {error}, attempt {attempt}") from None
                await self._sleep(wait)
            except ConfigurationError:
                self.breaker = self.breaker.failed(self._clock())
                raise
            except Invalid:
                self.breaker = self.breaker.succeeded()
                raise
            else:
                self.breaker = self.breaker.succeeded()
                return found

    async def _once(self, data: bytes, read: Read, seconds: float) -> Any:
        if self._session is None:
            self._session = aiohttp.ClientSession()
        headers = {**self._headers, "Content-Type": "application/json"}
        try:
            async with (
                asyncio.timeout(seconds),
                self._session.post(self._url, data=data, headers=headers, allow_redirects=False) as response,
            ):
                status, asked, answer = response.status, response.headers.get("Retry-After"), await _body(response)
        except TimeoutError:
            raise _Again(f"no answer within {seconds:.1f} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise _Again(f"no connection ({type(error).__name__})") from None
        if status == 429 or status >= 500 or status in (408, 425):
            raise _Again(f"answered {status}", asked=retrying.asked_for(asked, time.time()))
        if status != 200:
            raise self._refusal(status, answer)
        try:
            return read(_json(answer))
        except ValueError as error:
            raise _Again(f"its answer cannot be read: {error}") from None

    def _refusal(self, status: int, answer: bytes) -> Exception:
        if status in (401, 403):
            # What it says of a key may repeat a part of it.
            return ConfigurationError(f"{self._name}: key: the provider refuses it ({status}); set another one")
        says = self._shown(answer)
        if status in (400, 413, 422):
            return Invalid(f"{self._name}: the provider refuses the text ({status}){says}")
        if 300 <= status < 400:
            return ConfigurationError(
                f"{self._name}: url: the provider points elsewhere ({status}); set its own address"
            )
        return ConfigurationError(f"{self._name}: url or model: the provider answers {status}{says}; correct them")

    def _shown(self, answer: bytes) -> str:
        text = answer[: 8 * SHOWN].decode("utf-8", "replace")
        if self._secret:
            text = text.replace(self._secret, "…")
        text = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
        return f": {text[:SHOWN]}" if text else ""

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()


async def _body(response: aiohttp.ClientResponse) -> bytes:
    pieces: list[bytes] = []
    size = 0
    async for piece in response.content.iter_chunked(PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST:
            raise _Again(f"an answer of more than {LARGEST >> 20} MB")
    return b"".join(pieces)


def _json(answer: bytes) -> Any:
    try:
        return msgspec.json.decode(answer)
    except msgspec.DecodeError:
        # Slower, and takes the NaN that some servers write, so that they are told from a broken answer.
        return json.loads(answer)
