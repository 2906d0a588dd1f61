"""The options against a real model; the endpoint and its model are named by the usual settings, else nothing runs.

    RANKSTREAM_TEST_LLM_URL=http://127.0.0.1:8080/v1 RANKSTREAM_TEST_LLM_MODEL=smollm2 python -m pytest tests/llm

A model of 135M parameters is too small to be good: tested is that it is asked, checked, counted, and done without.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest

from schemas.chunks import Chunk, ChunkBatch
from schemas.graph import GraphBatch
from schemas.queries import Expected, PreparedQuery, Turn
from streams.adapters.chat import ChatModel
from streams.adapters.memory import MemoryAnswers
from streams.domain import chunk_context, follow_up, overviews, phrasing, prompts, rewriting
from streams.domain.overviews import Source
from streams.errors import Transient
from streams.processors import extract
from streams.processors.asking import Asker
from tests.unit.processors.test_rephrasing import ask

URL, MODEL = (os.environ.get(f"RANKSTREAM_TEST_LLM_{name}", "") for name in ("URL", "MODEL"))
pytestmark = pytest.mark.skipif(not URL, reason="RANKSTREAM_TEST_LLM_URL names no endpoint")

HISTORY = (
    Turn(role="user", text="What does the annual plan cost?"),
    Turn(role="assistant", text="It costs 120 euros a year."),
)
PAGE = "Annual plans cost 120 euros. They are refunded in full within 30 days; write to the billing desk in Riga."


@pytest.fixture
async def model() -> AsyncIterator[ChatModel]:
    model = ChatModel(url=URL, model=MODEL or "default", at_once=1)
    yield model
    await model.close()


async def test_it_answers_and_its_tokens_are_counted(model: ChatModel) -> None:
    said = await model.complete("You are brief.", "Say hello.", max_tokens=16, seconds=120)
    assert said.strip()
    assert model.spent.calls == 1
    assert 0 < model.spent.completion_tokens <= 16 < model.spent.prompt_tokens + 16


async def test_what_takes_too_long_is_given_up(model: ChatModel) -> None:
    with pytest.raises(Transient):
        await model.complete("", "Count to one thousand.", max_tokens=2_000, seconds=0.05)
    assert model.spent.failures == 1


async def test_a_question_is_rewritten_and_expanded_or_says_why_not(model: ChatModel) -> None:
    asker = Asker(model=model, answers=MemoryAnswers())
    query, expected = await ask(
        "And can I cancel it?", asker, seconds=60.0, history=HISTORY, rewrite="llm", expansions=2
    )
    assert isinstance(query, PreparedQuery) and isinstance(expected, Expected)
    seen = " ".join([*(turn.text for turn in HISTORY), "And can I cancel it?"])
    assert prompts.confirmed(query.text, seen)
    assert (query.text == "And can I cancel it?") == (expected.rewritten is None)
    assert all(prompts.confirmed(each, query.text) for each in query.phrasings)
    assert bool(query.phrasings) != any(reason.startswith("expansions: ") for reason in expected.reasons)
    assert model.spent.calls + model.spent.failures >= 1
    print(f"\nsearched as {query.text!r}, {query.phrasings}; {expected.reasons}; {model.spent}")


async def test_an_answer_of_the_model_is_read_without_harm_by_every_option(model: ChatModel) -> None:
    mark = "0123456789abcdef"
    asked = [
        rewriting.prompt("And can I cancel it?", HISTORY, mark),
        phrasing.prompt("How do I cancel the annual plan?", 2, mark),
        chunk_context.prompt(document=PAGE, chunk=PAGE, mark=mark),
    ]
    said = [await model.complete(each.system, each.user, max_tokens=80, seconds=120) for each in asked]
    context = chunk_context.read(said[2], document=PAGE, chunk=PAGE, language="en") or ""
    assert prompts.numbers(context) <= prompts.numbers(PAGE)
    assert follow_up.carried("And can I cancel it?", HISTORY, "en") == "annual plan"
    print(f"\nsaid {said}\ncontext {context!r}")


async def test_a_graph_comes_from_the_model_or_from_the_rules(model: ChatModel) -> None:
    chunk = Chunk(id="c", level="parent", heading_path=("Annual plans",), body=PAGE, parent_id="c")
    batch = ChunkBatch(
        tenant="acme", source="s", doc_id="d", version=1, generation="g1", part=0, parts=1, kind="document",
        language="en", chunks=(chunk,),
    )  # fmt: skip
    (sent,) = await extract.handle(batch, extract.Deps(asker=Asker(model=model)))
    assert isinstance(sent.message, GraphBatch)
    text = f"Annual plans {PAGE}".casefold()
    assert sent.message.entities
    assert all(entity.name.casefold() in text for entity in sent.message.entities)
    print(f"\n{[entity.name for entity in sent.message.entities]}; {model.spent}")


async def test_an_overview_of_the_model_has_no_number_of_its_own_or_is_not_believed(model: ChatModel) -> None:
    other = "The billing desk in Riga answers within two days. Monthly plans cost 12 euros."
    seen = [
        Source(chunk_id=name, heading_path=("Plans",), body=body, language="en")
        for name, body in (("a", PAGE), ("b", other))
    ]
    found = await Asker(model=model).ask(
        "acme",
        lambda mark: overviews.prompt(seen, mark),
        lambda said: overviews.read(said, seen, ("annual plan", "billing desk")),
        max_tokens=overviews.MOST_TOKENS,
        seconds=300,
    )
    assert found is None or prompts.numbers("\n".join(found)) <= prompts.numbers(f"{PAGE} {other}")
    assert model.spent.calls == 1
    print(f"\n{found}; {model.spent}")
