"""The rerankers that need no torch: the twin, and a language model's order. The one with weights: tests/bge."""

from __future__ import annotations

import re

import pytest

from streams.adapters import rerankers as adapters
from streams.adapters.listwise_reranker import ListwiseReranker
from streams.adapters.memory_reranker import MemoryReranker
from streams.errors import ConfigurationError, Transient
from streams.ports import Reranker
from tests.contract import rerankers


class Chat:
    """A language model that names the passages with `relay` in them, or says what it is told to."""

    model = "chat"

    def __init__(self, says: str | None = None) -> None:
        self.asked: list[tuple[str, str, int, float]] = []
        self._says = says

    async def complete(self, system: str, user: str, *, max_tokens: int, seconds: float) -> str:
        self.asked.append((system, user, max_tokens, seconds))
        if self._says is not None:
            return self._says
        blocks = re.findall(r"^\w+ passage (\d+)\n(.*?)^\w+ end of passage", user, re.S | re.M)
        named = [number for number, text in blocks if "relay" in text]
        return f"[{', '.join(named or ['1'])}]"


@pytest.fixture(params=["memory", "listwise"])
def reranker(request: pytest.FixtureRequest) -> Reranker:
    return MemoryReranker() if request.param == "memory" else ListwiseReranker(Chat())


async def test_every_passage_gets_a_number_from_nought_to_one(reranker: Reranker) -> None:
    await rerankers.scores_every_passage_with_a_number_from_nought_to_one(reranker)


async def test_the_same_question_gets_the_same_scores_also_beside_others(reranker: Reranker) -> None:
    await rerankers.says_the_same_twice_and_side_by_side(reranker)


async def test_what_is_not_read_whole_is_counted(reranker: Reranker) -> None:
    await rerankers.counts_what_it_could_not_read_whole(reranker)


async def test_what_shares_words_with_the_question_is_better(reranker: Reranker) -> None:
    scores = (await reranker.score(rerankers.QUESTION, rerankers.PASSAGES, seconds=30.0)).scores
    assert min(scores[0], scores[3]) > max(scores[1], scores[2])


async def test_a_language_model_is_asked_once_within_the_time_and_behind_a_new_fence_each_time() -> None:
    chat = Chat("[2]")
    reranker = ListwiseReranker(chat)
    scored = [await reranker.score("q", ["a", "b", "c"], seconds=1.5) for _ in range(2)]
    assert [list(each.scores) for each in scored] == [[2 / 3, 3 / 3, 1 / 3]] * 2
    fences = {user.split(maxsplit=1)[0] for _, user, _, _ in chat.asked}
    assert len(fences) == 2
    assert [(most, seconds) for _, _, most, seconds in chat.asked] == [(100, 1.5)] * 2


async def test_an_answer_that_is_no_order_is_an_error_and_no_order() -> None:
    with pytest.raises(Transient):
        await ListwiseReranker(Chat("Sorry, I cannot do that.")).score("q", ["a", "b"], seconds=1.0)


def test_a_model_is_named_without_loading_it(tmp_path: object) -> None:
    assert adapters.label(None) is None
    assert adapters.label("BAAI/bge-reranker-v2-m3") == "BAAI/bge-reranker-v2-m3"
    assert adapters.label(f"{tmp_path}/") == str(tmp_path).rpartition("/")[2]
    assert adapters.label("llm", "qwen") == "qwen"


def test_a_language_model_that_is_not_there_is_told_in_one_line() -> None:
    with pytest.raises(ConfigurationError, match="RANKSTREAM_RERANKER=llm needs a language model"):
        adapters.build("llm")
