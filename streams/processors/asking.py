"""Asks a language model, and keeps what was believed of its answers: where the same input means the same answer."""

from __future__ import annotations

import hashlib
import logging
import secrets
from collections.abc import Callable
from typing import TypeVar

from streams.domain.identity import length_prefixed
from streams.domain.prompts import Prompt
from streams.errors import RankstreamError
from streams.ports import Answers, LanguageModel

log = logging.getLogger(__name__)

T = TypeVar("T")

KEPT_SECONDS = 7 * 86_400  # another text, prompt or model has another key
LARGEST = 64_000  # bytes of a kept answer


def random_mark() -> str:
    """Return 16 hex digits that no text can know."""
    return secrets.token_hex(8)


class Asker:
    """A language model with checks on what it says; without a store of answers it asks every time."""

    def __init__(
        self, *, model: LanguageModel, answers: Answers | None = None, mark: Callable[[], str] = random_mark
    ) -> None:
        self.model = model
        self._answers = answers
        self._mark = mark

    async def ask(
        self,
        tenant: str,
        build: Callable[[str], Prompt],
        read: Callable[[str], T | None],
        *,
        max_tokens: int,
        seconds: float,
    ) -> T | None:
        """Return what `read` believes of the model's answer, none where that is nothing; raise Transient or Invalid.

        `build` makes the prompt with a mark for its data. Answers are kept by model and prompt, apart from the mark,
        for one tenant; one that is not believed is not kept.
        """
        key = self._key(tenant, build(""), max_tokens)
        kept = await self._kept(key)
        if kept is not None and (found := read(kept)) is not None:
            return found
        prompt = build(self._mark())
        said = await self.model.complete(prompt.system, prompt.user, max_tokens=max_tokens, seconds=seconds)
        found = read(said)
        if found is None:
            log.info("%s gave an answer that fails the checks", self.model.model)
        else:
            await self._keep(key, said)
        return found

    def _key(self, tenant: str, prompt: Prompt, max_tokens: int) -> str:
        parts = length_prefixed((self.model.model, prompt.system, prompt.user, str(max_tokens)))
        return f"said:{tenant}:{hashlib.sha256(parts.encode('utf-8', 'replace')).hexdigest()}"

    async def _kept(self, key: str) -> str | None:
        if self._answers is None:
            return None
        try:
            value = await self._answers.get(key)
        except RankstreamError:
            return None
        # The key stands in front of the value, so that a mixed-up reply of the store is noticed.
        before, _, said = (value or b"").partition(b"\n")
        return said.decode("utf-8", "replace") if before == key.encode() else None

    async def _keep(self, key: str, said: str) -> None:
        value = key.encode() + b"\n" + said.encode("utf-8", "replace")
        if self._answers is None or len(value) > LARGEST:
            return
        try:
            await self._answers.put(key, value, KEPT_SECONDS)
        except RankstreamError as error:
            log.info("an answer of %s is not kept: %s", self.model.model, error)
