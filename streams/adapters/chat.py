"""A language model behind an OpenAI-compatible endpoint: POST /v1/chat/completions.

Source: OpenAI's API reference, "Create chat completion"; the fields used here are those that llama.cpp, vLLM and Ollama
serve as well.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
import msgspec

from streams.errors import Invalid, Transient
from streams.telemetry.calls import traced

AT_ONCE = 8  # requests to the endpoint; further ones wait, within their time
ATTEMPTS = 4
FIRST_BACK_OFF = 0.2  # seconds
LARGEST = 1_000_000  # bytes of an answer
RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})  # statuses that may pass


@dataclass(kw_only=True)
class Spent:
    """What a model has cost since the process began."""

    calls: int = 0  # answers, good or not
    failures: int = 0  # calls that ended in an error
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Said(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Said


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


@traced("llm", "complete")
class ChatModel:
    """The LanguageModel port over HTTP; the key is sent to the endpoint and appears in no message."""

    def __init__(
        self,
        *,
        url: str,
        model: str,
        key: str | None = None,
        at_once: int = AT_ONCE,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.model = model
        self.spent = Spent()
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._slots = asyncio.Semaphore(at_once)
        self._sleep = sleep
        self._session: aiohttp.ClientSession | None = None

    async def complete(self, system: str, user: str, *, max_tokens: int, seconds: float) -> str:
        """Return what the model says; tries again within `seconds`, with jitter or as `Retry-After` says."""
        body = {
            "model": self.model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
            "max_tokens": max_tokens,
            "temperature": 0,
        }
        try:
            async with asyncio.timeout(max(0.0, seconds)), self._slots:
                return await self._patiently(msgspec.json.encode(body))
        except TimeoutError:
            self.spent.failures += 1
            raise Transient(f"{self.model} did not answer within {seconds:.1f} s") from None
        except (Transient, Invalid):
            self.spent.failures += 1
            raise

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def _patiently(self, body: bytes) -> str:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._once(body)
            except _Busy as busy:
                if attempt == ATTEMPTS:
                    raise
                back_off = FIRST_BACK_OFF * 2 ** (attempt - 1) * random.uniform(0.5, 1.0)
                await self._sleep(back_off if busy.after is None else busy.after)
        raise AssertionError

    async def _once(self, body: bytes) -> str:
        if self._session is None:
            # Limits are the caller's; a redirect would send the key elsewhere.
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None, sock_connect=10.0))
        headers = {"Content-Type": "application/json", **self._headers}
        try:
            async with self._session.post(self._url, data=body, headers=headers, allow_redirects=False) as response:
                status, after = response.status, response.headers.get("Retry-After")
                data = await response.content.read(LARGEST + 1) if status == 200 else b""
                while 0 < len(data) <= LARGEST and (more := await response.content.read(LARGEST)):
                    data += more
        except (aiohttp.ClientError, OSError) as error:
            raise _Busy(f"{self.model} cannot be reached ({type(error).__name__})") from error
        if status in RETRIED:
            raise _Busy(f"{self.model} answered with status {status}", after=_seconds(after))
        if status != 200:
            raise Invalid(f"{self.model} answered with status {status}")
        if len(data) > LARGEST:
            raise Invalid(f"{self.model} answered with more than {LARGEST} bytes")
        return self._read(data)

    def _read(self, data: bytes) -> str:
        try:
            answer = msgspec.json.decode(data, type=_Completion)
            text = answer.choices[0].message.content
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, IndexError):
            raise Invalid(f"{self.model} answered with something that is no chat completion") from None
        self.spent.calls += 1
        if answer.usage is not None:
            self.spent.prompt_tokens += max(0, answer.usage.prompt_tokens)
            self.spent.completion_tokens += max(0, answer.usage.completion_tokens)
        return text or ""


class _Busy(Transient):
    def __init__(self, message: str, *, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after  # seconds that the endpoint asks for


def _seconds(header: Any) -> float | None:
    """Return what `Retry-After` says, where it is a number of seconds; a date is treated as none."""
    return float(header) if isinstance(header, str) and header.isascii() and header.isdigit() else None
