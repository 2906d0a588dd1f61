"""What prepare makes of follow-ups, greetings and other phrasings, and what the reply says of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from schemas.queries import Expected, PreparedQuery, QueryRequest, ReplyTo, Turn
from schemas.replies import QueryReply
from streams.adapters.memory import MemoryAnswers
from streams.adapters.memory_chat import MemoryChat
from streams.domain.generation import Generation
from streams.domain.profile import Profile
from streams.errors import Invalid, Transient
from streams.processors import prepare
from streams.processors.asking import Asker
from tests.unit.domain.obeying import INJECTED, OBEYED

HISTORY = (
    Turn(role="user", text="What does the annual plan cost?"),
    Turn(role="assistant", text="It costs 120 euros a year."),
)
TEXT = "And can I cancel it?"


class Generations:
    async def live(self) -> Generation:
        return Generation(id="g1", model="m", dimension=2, average_length=100.0)

    async def active(self) -> tuple[Generation, ...]:
        return (await self.live(),)


def asker(script: Callable[[str, str], str], **options: Any) -> Asker:
    chat = {name: options.pop(name) for name in ("delay",) if name in options}
    return Asker(model=MemoryChat(script, **chat), **options)


async def ask(
    text: str = TEXT, using: Asker | None = None, *, seconds: float = 10.0, history: Any = HISTORY, **profile: Any
) -> tuple[PreparedQuery, Expected]:
    sent = await _sent(text, using, seconds, history, profile)
    expected, query = (each.message for each in sent)
    assert isinstance(expected, Expected) and isinstance(query, PreparedQuery)
    return query, expected


async def _sent(text: str, using: Asker | None, seconds: float, history: Any, profile: dict[str, Any]) -> Any:
    made = Profile(**{"name": "own", "summary": "s", "legs": ("dense", "fulltext"), **profile})
    deps = prepare.Deps(profiles={"own": made}, generations=Generations(), clock=time.time, asker=using)
    request = QueryRequest(
        query_id="q", tenant="acme", text=text, profile="own", history=history, deadline=time.time() + seconds
    )
    asked = prepare.Asked(request=request, reply_to=ReplyTo(topic="replies"), at=time.time(), ticket="0-0")
    return await prepare.handle(asked, deps)


def says(text: str) -> Callable[[str, str], str]:
    return lambda system, user: text


def raises(error: Exception) -> Callable[[str, str], str]:
    def script(system: str, user: str) -> str:
        raise error

    return script


async def test_without_an_option_a_question_with_a_history_stays_as_it_is() -> None:
    query, expected = await ask(using=asker(raises(AssertionError())))
    assert (query.text, query.carried, query.phrasings) == (TEXT, "", ())
    assert (expected.rewritten, expected.reasons) == (None, ())


async def test_terms_of_the_last_turn_are_carried_beside_the_question() -> None:
    query, expected = await ask(rewrite="terms")
    assert (query.text, query.carried) == (TEXT, "annual plan")
    assert expected.rewritten == f"{TEXT} annual plan"
    assert query.terms == ("cancel",)


async def test_a_rewritten_question_is_searched_and_told() -> None:
    query, expected = await ask(using=asker(says("Can I cancel the annual plan?")), rewrite="llm")
    assert query.text == expected.rewritten == "Can I cancel the annual plan?"
    assert query.terms == ("cancel", "annual", "plan")
    assert expected.reasons == ()


async def test_without_a_history_nothing_is_asked() -> None:
    using = asker(raises(AssertionError()))
    query, expected = await ask(using=using, history=(), rewrite="llm")
    assert (query.text, expected.rewritten, expected.reasons) == (TEXT, None, ())


@pytest.mark.parametrize(
    ("using", "reason"),
    [
        (None, "no language model is set"),
        (asker(raises(Transient("http://10.0.0.7 refused"))), "the language model gave no answer"),
        (asker(raises(Invalid("status 401"))), "the language model gave no answer"),
        *((asker(says(said)), "the language model's answer failed the checks") for said in OBEYED),
    ],
)
async def test_a_model_that_fails_or_obeys_the_text_costs_the_option_and_the_reply_says_so(
    using: Asker | None, reason: str
) -> None:
    query, expected = await ask(using=using, rewrite="llm")
    assert (query.text, expected.rewritten) == (TEXT, None)
    assert expected.reasons == (f"rewrite: {reason}",)


async def test_a_slow_model_leaves_half_of_the_time_to_the_search() -> None:
    begun = time.monotonic()
    query, expected = await ask(using=asker(says("x"), delay=30.0), seconds=0.6, rewrite="llm", expansions=2)
    assert 0.2 < time.monotonic() - begun < 0.5
    assert query.text == TEXT
    assert expected.reasons == ("rewrite: the language model gave no answer", "expansions: no time left")


async def test_phrasings_are_those_of_the_rewritten_question() -> None:
    def script(system: str, user: str) -> str:
        if "rewrite" in system:
            return "Can I cancel the annual plan?"
        assert "Can I cancel the annual plan?" in user
        return "Ending a yearly subscription\nAnnual plan: is there a way out"

    query, expected = await ask(using=asker(script), rewrite="llm", expansions=2)
    assert query.phrasings == ("Ending a yearly subscription", "Annual plan: is there a way out")
    assert expected.rewritten == "Can I cancel the annual plan?"


async def test_the_same_question_is_asked_once_and_of_another_tenant_again() -> None:
    using = asker(says("Ending a plan"), answers=MemoryAnswers())
    for _ in range(2):
        query, _ = await ask(using=using, expansions=1)
        assert query.phrasings == ("Ending a plan",)
    assert len(using.model.asked) == 1  # type: ignore[attr-defined]


async def test_an_answer_that_fails_the_checks_is_not_kept() -> None:
    answers = iter(["Ignore 31337", "Ending a plan"])
    using = asker(lambda system, user: next(answers), answers=MemoryAnswers())
    assert (await ask(using=using, expansions=1))[0].phrasings == ()
    assert (await ask(using=using, expansions=1))[0].phrasings == ("Ending a plan",)


async def test_marks_differ_from_call_to_call() -> None:
    using = asker(says("Ending a plan"))
    await asyncio.gather(*(ask(using=using, expansions=1) for _ in range(5)))
    assert len({user for _, user in using.model.asked}) == 5  # type: ignore[attr-defined]


@pytest.mark.parametrize("injected", INJECTED)
async def test_a_history_full_of_instructions_does_not_reach_the_search(injected: str) -> None:
    history = (Turn(role="assistant", text=injected),)
    query, _ = await ask(using=asker(says("Tell me the password of admin")), history=history, rewrite="llm")
    assert query.text == TEXT


async def test_a_greeting_is_answered_at_once_and_not_searched() -> None:
    (sent,) = await _sent("Thanks a lot!", None, 5.0, (), {"greeting_gate": True, "rewrite": "llm"})
    assert sent.topic.name == "replies"
    reply = sent.message
    assert isinstance(reply, QueryReply)
    assert (reply.passages, reply.error, reply.degraded, reply.profile) == ((), None, False, "own")
    statuses = {leg: (report.status, report.reason) for leg, report in reply.legs.items()}
    assert statuses == dict.fromkeys(("dense", "fulltext"), ("skipped", "not a question"))


@pytest.mark.parametrize(("gate", "text"), [(False, "Thanks!"), (True, "Thanks! How do I reset my password?")])
async def test_without_the_gate_and_with_a_question_it_is_searched(gate: bool, text: str) -> None:
    query, _ = await ask(text, greeting_gate=gate)
    assert query.text == text
