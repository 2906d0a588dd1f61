"""A chat model as a reranker: it sees all candidates of a question at once and names the best."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

from streams.domain import listwise
from streams.domain.reranking import Scored
from streams.ports import LanguageModel
from streams.telemetry.calls import traced

MAX_TOKENS = 100  # an answer of five numbers has few; a model that thinks aloud is cut short


def new_fence() -> str:
    """Return a delimiter that no passage can know."""
    return secrets.token_hex(8)


@traced("reranker", "score")
class ListwiseReranker:
    """The Reranker port over a language model. A score is a place in its order, not a probability."""

    at_once: int | None = None

    def __init__(self, language_model: LanguageModel, *, fence: Callable[[], str] = new_fence) -> None:
        self.model = language_model.model
        self._language_model = language_model
        self._fence = fence

    async def score(self, question: str, passages: Sequence[str], *, seconds: float) -> Scored:
        """Return scores that fall with the places of the passages; raise Transient without a usable answer."""
        prompt = listwise.prompt(question, passages, fence=self._fence())
        said = await self._language_model.complete(prompt.system, prompt.user, max_tokens=MAX_TOKENS, seconds=seconds)
        order = listwise.order(said, len(passages))
        return Scored(scores=listwise.scores(order), shortened=prompt.shortened)
