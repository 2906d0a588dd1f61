"""Micro-batches: many callers, one model; nobody waits for ever, and one text that fails is one caller's."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Sequence

import numpy as np
import pytest

from streams.batching import MicroBatcher
from streams.errors import Invalid, ModelUnavailable, Transient
from streams.ports import Vectors


class Model:
    """Gives the length of each text; refuses "bad", is away for "away", and holds until it may go on."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.go = asyncio.Event()
        self.go.set()
        self.at_once = self.most_at_once = 0

    async def __call__(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await self.go.wait()
        self.at_once -= 1
        if "bad" in texts:
            raise Invalid("bad text")
        if "away" in texts:
            raise ModelUnavailable("away")
        if "bug" in texts:
            raise ZeroDivisionError("bug")
        return np.array([[len(text)] for text in texts], dtype=np.float32).reshape(-1, 1)


async def lengths(found: Awaitable[Vectors]) -> list[float]:
    return [row[0] for row in (await found).tolist()]


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_calls_that_come_together_are_one_batch_and_each_gets_its_rows() -> None:
    model = Model()
    batch = MicroBatcher(model, size=8, wait=0.005)
    assert await asyncio.gather(lengths(batch(["a", "bbb"])), lengths(batch(["cc"]))) == [[1, 3], [2]]
    assert model.batches == [["a", "bbb", "cc"]]
    await batch.close()


async def test_a_full_batch_does_not_wait() -> None:
    model = Model()
    batch = MicroBatcher(model, size=2, wait=60.0)
    assert await asyncio.wait_for(lengths(batch(["a", "bb"])), 5.0) == [1, 2]
    await batch.close()


async def test_a_long_call_lets_others_between_its_batches() -> None:
    model = Model()
    batch = MicroBatcher(model, size=2, wait=0.0)
    model.go.clear()
    long = asyncio.create_task(lengths(batch(["a", "bb", "ccc", "dddd", "eeeee"])))
    await settled()
    short = asyncio.create_task(lengths(batch(["z"])))
    await settled()
    model.go.set()
    assert (await long, await short) == ([1, 2, 3, 4, 5], [1])
    assert model.batches == [["a", "bb"], ["ccc", "dddd"], ["eeeee", "z"]]
    await batch.close()


async def test_several_batches_may_be_on_their_way_and_no_more_than_that() -> None:
    model = Model()
    batch = MicroBatcher(model, size=1, wait=0.0, at_once=3)
    model.go.clear()
    calls = [asyncio.create_task(lengths(batch(["a"]))) for _ in range(7)]
    await settled()
    assert model.at_once == 3
    model.go.set()
    assert await asyncio.gather(*calls) == [[1]] * 7
    assert model.most_at_once == 3
    await batch.close()


def batch_of(text: str, number: int) -> list[str]:
    return [text] * number


async def test_edits_go_before_bulk_texts_and_a_bulk_batch_is_small() -> None:
    model = Model()
    batch = MicroBatcher(model, size=4, wait=0.0, bulk_size=2, bulk_every=60.0)
    model.go.clear()
    bulk = asyncio.create_task(batch(batch_of("bulk", 6), bulk=True))
    await settled()
    edit = asyncio.create_task(batch(batch_of("edit", 5)))
    await settled()
    model.go.set()
    await asyncio.gather(bulk, edit)
    # What the edit waited for is one bulk batch: two texts.
    order = [["bulk"] * 2, ["edit"] * 4, ["edit"], ["bulk"] * 2, ["bulk"] * 2]
    assert model.batches == order
    await batch.close()


async def test_under_constant_load_one_bulk_batch_goes_every_so_often() -> None:
    """With batches of edits of 20 ms and a bulk batch due every 100 ms, at most five edits' batches lie between two."""

    class Slow(Model):
        async def __call__(self, texts: Sequence[str]) -> Vectors:
            await asyncio.sleep(0.02)
            return await super().__call__(texts)

    model = Slow()
    batch = MicroBatcher(model, size=2, wait=0.0, bulk_size=2, bulk_every=0.1)
    edits = asyncio.create_task(batch(batch_of("edit", 80)))  # 40 batches: 0.8 s
    bulk = asyncio.create_task(batch(batch_of("bulk", 8), bulk=True))
    await asyncio.gather(edits, bulk)
    places = [number for number, texts in enumerate(model.batches) if texts[0] == "bulk"]
    assert len(places) == 4
    assert places[-1] < 40  # none had to wait for the end of the edits
    assert all(1 <= later - sooner - 1 <= 5 for sooner, later in itertools.pairwise(places))
    await batch.close()


async def test_bulk_texts_wait_for_questions_and_edits_do_not() -> None:
    questions, passages = Model(), Model()
    first = MicroBatcher(questions, size=1, wait=0.0)
    batch = MicroBatcher(passages, size=2, wait=0.0, bulk_every=60.0, first=first)
    questions.go.clear()
    question = asyncio.create_task(first(["?"]))
    await settled()
    bulk = asyncio.create_task(batch(["bulk"], bulk=True))
    await settled()
    assert passages.batches == []
    assert await asyncio.wait_for(lengths(batch(["edit"])), 5.0) == [4]
    await settled()
    assert passages.batches == [["edit"]]
    questions.go.set()
    await asyncio.wait_for(asyncio.gather(question, bulk), 5.0)
    assert passages.batches == [["edit"], ["bulk"]]
    await first.close()
    await batch.close()


async def test_bulk_texts_go_all_the_same_when_questions_never_end() -> None:
    questions = Model()
    first = MicroBatcher(questions, size=1, wait=0.0)
    batch = MicroBatcher(Model(), size=2, wait=0.0, bulk_every=0.05, first=first)
    questions.go.clear()
    question = asyncio.create_task(first(["?"]))
    await settled()
    assert await asyncio.wait_for(batch(["bulk"] * 9, bulk=True), 5.0) is not None
    questions.go.set()
    await question
    await first.close()
    await batch.close()


async def test_of_several_batches_at_once_one_is_kept_free_of_bulk_texts() -> None:
    model = Model()
    batch = MicroBatcher(model, size=1, wait=0.0, at_once=3, bulk_size=1, bulk_every=60.0)
    model.go.clear()
    bulk = asyncio.create_task(batch(["bulk"] * 5, bulk=True))
    await settled()
    assert model.batches == [["bulk"], ["bulk"]]
    edit = asyncio.create_task(batch(["edit"]))
    await settled()
    assert model.batches == [["bulk"], ["bulk"], ["edit"]]
    model.go.set()
    await asyncio.gather(bulk, edit)
    await batch.close()


async def test_a_full_queue_refuses_a_question_at_once() -> None:
    model = Model()
    batch = MicroBatcher(model, size=1, wait=0.0, most_queued=2)
    model.go.clear()
    calls = []
    for text in ("a", "bb", "ccc"):  # the first is with the model
        calls.append(asyncio.create_task(lengths(batch([text]))))
        await settled()
    with pytest.raises(Transient, match="has 2 texts in its queue"):
        await batch(["d"])
    assert (batch.counts.refused, batch.counts.queued) == (1, 2)
    model.go.set()
    assert await asyncio.gather(*calls) == [[1], [2], [3]]
    await batch.close()


async def test_a_full_queue_makes_ingest_wait_for_room() -> None:
    model = Model()
    batch = MicroBatcher(model, size=2, wait=0.0, most_queued=2, patient=True)
    model.go.clear()
    calls = [asyncio.create_task(lengths(batch(["a", "bb"]))) for _ in range(5)]
    await settled()
    assert batch.counts.queued == 2
    model.go.set()
    assert await asyncio.wait_for(asyncio.gather(*calls), 5.0) == [[1, 2]] * 5
    assert batch.counts.refused == 0
    await batch.close()


async def test_a_call_that_is_larger_than_the_queue_has_it_for_itself() -> None:
    batch = MicroBatcher(Model(), size=2, wait=0.0, most_queued=2)
    assert await lengths(batch(["a"] * 9)) == [1] * 9
    await batch.close()


async def test_one_callers_bad_text_does_not_fail_the_others() -> None:
    batch = MicroBatcher(Model(), size=8, wait=0.005)
    found = await asyncio.gather(batch(["a"]), batch(["bad", "b"]), batch(["cc"]), return_exceptions=True)
    assert [type(each) for each in found] == [np.ndarray, Invalid, np.ndarray]
    await batch.close()


@pytest.mark.parametrize(("text", "error", "says"), [("away", ModelUnavailable, "away"), ("bug", Transient, "bug")])
async def test_what_fails_is_told_to_all_of_the_batch_and_the_next_one_goes_on(
    text: str, error: type[Exception], says: str
) -> None:
    batch = MicroBatcher(Model(), size=8, wait=0.005)
    found = await asyncio.gather(batch(["a"]), batch([text]), return_exceptions=True)
    assert [(type(each), says in str(each)) for each in found] == [(error, True)] * 2
    assert await lengths(batch(["ok"])) == [2]
    assert (batch.counts.failed, batch.counts.batches) == (1, 1)
    await batch.close()


async def test_texts_of_a_caller_that_gave_up_are_not_computed() -> None:
    model = Model()
    batch = MicroBatcher(model, size=1, wait=0.0)
    model.go.clear()
    first, second = (asyncio.create_task(lengths(batch([text]))) for text in ("a", "gone"))
    await settled()
    second.cancel()
    model.go.set()
    assert await first == [1]
    assert await lengths(batch(["bb"])) == [2]
    assert model.batches == [["a"], ["bb"]]
    await batch.close()


@pytest.mark.parametrize("patient", [False, True])
async def test_closing_tells_everybody_who_waits(patient: bool) -> None:
    model = Model()
    batch = MicroBatcher(model, size=1, wait=0.0, most_queued=1, patient=patient)
    model.go.clear()
    calls = [asyncio.create_task(lengths(batch(["a"]))) for _ in range(4 if patient else 2)]
    await settled()
    await batch.close()
    found = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 5.0)
    assert all(isinstance(each, Transient) for each in found)
    with pytest.raises(Transient, match="closed"):
        await batch(["b"])


async def test_batches_and_waiting_times_are_counted() -> None:
    batch = MicroBatcher(Model(), size=4, wait=0.0)
    for number in (1, 3, 4, 5):
        await batch(["a"] * number)
    counts = batch.counts
    assert (counts.batches, counts.texts, counts.queued) == (5, 13, 0)
    assert counts.sizes == {1: 2, 4: 3}  # batches of 1, 3, 4, 4 and 1, by the next power of two
    assert sum(counts.waits.values()) == 13
    assert counts.queue_seconds >= 0 and counts.model_seconds >= 0
    await batch.close()
