"""One run of the probe: a canary is published, asked for, edited and deleted, and an operator's questions are asked."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Sequence
from typing import Protocol

from schemas.documents import DocumentChange, DocumentStatus
from schemas.replies import QueryReply
from streams.domain import canary
from streams.domain.canary import Canary, Check, Question
from streams.errors import RankstreamError
from streams.gateways.client import Client


class Door(Protocol):
    """The way in that is probed."""

    async def publish(self, change: DocumentChange, timeout: float) -> DocumentStatus | None:
        """Publish a change and return its receipt; raise RankstreamError."""

    async def ask(self, question: Question, timeout: float) -> QueryReply:
        """Return the outcome of a question; an error is in it."""


class KafkaDoor:
    """The client over Kafka."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def publish(self, change: DocumentChange, timeout: float) -> DocumentStatus | None:
        """Publish a change and return its receipt; raise RankstreamError."""
        return await self._client.publish(change, wait=True, timeout=timeout)

    async def ask(self, question: Question, timeout: float) -> QueryReply:
        """Return the outcome of a question."""
        return await self._client.ask(
            question.text,
            tenant=question.tenant,
            agent=question.agent,
            profile=question.profile,
            timeout=timeout,
        )


class Probe:
    """Runs the steps one after the other; whatever goes wrong is a problem of its step."""

    def __init__(self, door: Door, *, timeout: float, receipt: float) -> None:
        """timeout: seconds until a question's deadline; receipt: seconds for a change to be searchable."""
        self._door = door
        self._timeout = timeout
        self._receipt = receipt

    async def run(self, bird: Canary, questions: Sequence[Question]) -> list[Check]:
        """Return what became of each step; the canary is deleted however the others ended."""
        checks = [await self._publish("publish", bird.change(0))]
        if not checks[-1].problems:
            checks.append(await self._ask("find", bird.question(0)))
            checks.append(await self._publish("edit", bird.change(1)))
            if not checks[-1].problems:
                checks.append(await self._ask("find the edit", bird.question(1)))
        checks.append(await self._publish("delete", bird.change(2, "delete")))
        if not checks[-1].problems:
            checks.append(await self._ask("find no more", bird.question(1, gone=True)))
        for number, question in enumerate(questions, start=1):
            checks.append(await self._ask(f"question {number}", question))
        return checks

    async def _publish(self, name: str, change: DocumentChange) -> Check:
        wanted = "deleted" if change.op == "delete" else "searchable"

        async def published() -> tuple[tuple[str, ...], tuple[str, ...]]:
            status = await self._door.publish(change, self._receipt)
            if status is None or (status.status, status.version) == (wanted, change.version):
                return (), ()
            reason = f": {status.reason}" if status.reason else ""
            return (f"version {status.version} is {status.status}{reason}",), ()

        return await _step(name, published())

    async def _ask(self, name: str, question: Question) -> Check:
        async def asked() -> tuple[tuple[str, ...], tuple[str, ...]]:
            began = time.monotonic()
            reply = await self._door.ask(question, self._timeout)
            seconds = time.monotonic() - began
            wrong = tuple(canary.problems(question, reply, seconds=seconds, timeout=self._timeout))
            return wrong, (reply.reasons or ("no reason given",)) if reply.degraded else ()

        return await _step(name, asked())


async def _step(name: str, work: Awaitable[tuple[tuple[str, ...], tuple[str, ...]]]) -> Check:
    began = time.monotonic()
    degraded: tuple[str, ...] = ()
    try:
        wrong, degraded = await work
    except (RankstreamError, OSError) as error:
        wrong = (" ".join(str(error).split()) or type(error).__name__,)
    milliseconds = (time.monotonic() - began) * 1000
    return Check(name=name, milliseconds=milliseconds, problems=wrong, degraded=degraded)
