"""The in-memory twin of a language model: it says what a script says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from streams.adapters.chat import Spent
from streams.errors import Invalid, Transient

Script = Callable[[str, str], str]  # system and user text to an answer; may raise Transient or Invalid


class MemoryChat:
    """The LanguageModel port in memory; a word counts as a token."""

    model = "memory-chat"

    def __init__(self, script: Script, *, delay: float = 0.0) -> None:
        self.asked: list[tuple[str, str]] = []  # system and user texts
        self.spent = Spent()
        self._script = script
        self._delay = delay  # seconds

    async def complete(self, system: str, user: str, *, max_tokens: int, seconds: float) -> str:
        """Return the script's answer, cut after `max_tokens`."""
        self.asked.append((system, user))
        try:
            if self._delay or seconds <= 0:
                async with asyncio.timeout(max(0.0, seconds)):
                    await asyncio.sleep(self._delay)
            said = self._script(system, user)
        except TimeoutError:
            self.spent.failures += 1
            raise Transient(f"{self.model} did not answer within {seconds:.1f} s") from None
        except (Transient, Invalid):
            self.spent.failures += 1
            raise
        words = said.split(" ")[:max_tokens]
        self.spent.calls += 1
        self.spent.prompt_tokens += len(f"{system} {user}".split())
        self.spent.completion_tokens += len(words)
        return " ".join(words)

    async def close(self) -> None:
        """Nothing is open."""
