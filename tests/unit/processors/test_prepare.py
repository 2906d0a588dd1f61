"""prepare: refuses bad questions by name, stamps good ones, answers only where it may."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from schemas.queries import Expected, PreparedQuery, QueryRequest, ReplyTo
from schemas.replies import QueryReply
from streams.adapters import profiles
from streams.adapters.memory_state import State
from streams.adapters.memory_texts import MemoryPassages
from streams.domain.generation import Generation, Model
from streams.domain.profile import Profile
from streams.domain.synonyms import Synonyms, parse
from streams.errors import StoreUnavailable
from streams.processors import answer_cache, prepare
from streams.runner import Outcome, Runner
from streams.wire import RawOutgoing, Record

ADDRESS = {"kafka_replyTopic": b"replies", "kafka_replyPartition": b"\0\0\0\x09", "kafka_correlationId": b"c1"}


class Generations:
    def __init__(self, error: Exception | None = None, also: tuple[Model, ...] = ()) -> None:
        self._error = error
        self._also = also

    async def live(self) -> Generation:
        if self._error:
            raise self._error
        return Generation(id="g1", model="m", dimension=2, average_length=100.0, also=self._also)

    async def active(self) -> tuple[Generation, ...]:
        beside = Generation(id="g2", model="n", dimension=3, average_length=100.0, state="building")
        return (await self.live(), beside)


async def run(
    record: Record, *, error: Exception | None = None, also: tuple[Model, ...] = (), now: float = 1_000.5
) -> tuple[Outcome, list[RawOutgoing]]:
    sent: list[RawOutgoing] = []

    async def produce(outgoing: RawOutgoing) -> None:
        sent.append(outgoing)

    deps = prepare.Deps(profiles=profiles.shipped(), generations=Generations(error, also), clock=lambda: now)
    return await Runner(prepare.PREPARE, deps, produce, clock=lambda: now).run(record), sent


def question(**fields: Any) -> bytes:
    return json.dumps({"query_id": "q1", "tenant": "acme", "text": "refund", **fields}).encode()


async def test_a_question_goes_to_the_legs_and_to_fuse(record: Callable[..., Record]) -> None:
    outcome, sent = await run(record(question(text="  What\u200b is \n a refund? ", top_k=40), headers=ADDRESS))
    assert outcome is Outcome.DONE
    by_topic = {each.topic: json.loads(each.value or b"") for each in sent}
    assert set(by_topic) == {"leg-results", "prepared"}
    assert {each.key for each in sent} == {by_topic["prepared"]["ticket"].encode()}
    query = by_topic["prepared"]
    assert query["name"] == PreparedQuery.__name__
    assert (query["text"], query["generation"], query["candidates"], query["deadline"]) == (
        "What is a refund?",
        "g1",
        100,
        1_005.5,
    )
    expected = by_topic["leg-results"]
    assert expected["name"] == Expected.__name__
    assert (expected["top_k"], expected["asked"], expected["received"]) == (40, 1_000.0, 1_000.5)
    assert expected["reply_to"] == {"topic": "replies", "partition": 9, "correlation_id": "YzE="}


@pytest.mark.parametrize(
    ("body", "error_class", "field"),
    [
        (question(text=" \u200b "), "validation", "text"),
        (question(text="x" * 20_001), "validation", "text"),
        (question(tenant=""), "validation", "tenant"),
        (question(tenant="acme\n"), "validation", "tenant"),
        (question(profile="no-such"), "validation", "profile"),
        (question(top_k=101), "validation", "top_k"),
        (question(version=2), "validation", "version"),
        (question(generation="g9"), "validation", "generation"),
        (question(filters={"directory": 3}), "validation", "filters.directory"),
        (b'{"query_id": "q1"', "decode", None),
    ],
)
async def test_a_bad_question_is_answered_with_its_field(
    record: Callable[..., Record], body: bytes, error_class: str, field: str | None
) -> None:
    outcome, (sent,) = await run(record(body, headers=ADDRESS))
    assert outcome is Outcome.ANSWERED
    assert (sent.topic, sent.partition, sent.headers["kafka_correlationId"], sent.key) == ("replies", 9, b"c1", b"q1")
    reply = json.loads(sent.value or b"")
    assert reply["name"] == QueryReply.__name__
    assert (reply["query_id"], reply["error"]["class"], reply["error"]["field"]) == ("q1", error_class, field)
    assert reply["passages"] == []


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {**ADDRESS, "kafka_replyTopic": b"documents"},
        {**ADDRESS, "kafka_replyPartition": b"\0\0\0\x40"},
        {**ADDRESS, "kafka_replyPartition": b"9"},
        {**ADDRESS, "kafka_replyTopic": b"\xff"},
    ],
)
async def test_a_question_without_an_address_of_ours_is_dead_lettered(
    record: Callable[..., Record], headers: dict[str, bytes]
) -> None:
    outcome, (sent,) = await run(record(question(), headers=headers))
    assert outcome is Outcome.DEAD_LETTERED
    assert (sent.topic, sent.headers["rankstream-error-class"]) == ("queries.dlq", b"validation")


async def test_an_expired_question_is_dropped(record: Callable[..., Record]) -> None:
    assert await run(record(question(deadline=1_000.4), headers=ADDRESS)) == (Outcome.EXPIRED, [])


@pytest.mark.parametrize(
    ("deadline", "most"),
    [(1_004.0, 1.0), (1_020.0, 5.0), (1_001.0, 0.5), (None, 1.25)],
)
async def test_a_question_that_waited_for_a_quarter_of_its_time_is_refused_at_once(
    record: Callable[..., Record], deadline: float | None, most: float
) -> None:
    asked = question() if deadline is None else question(deadline=deadline)
    outcome, _ = await run(record(asked, headers=ADDRESS), now=1_000.0 + most)
    assert outcome is Outcome.DONE
    outcome, (sent,) = await run(record(asked, headers=ADDRESS), now=1_000.01 + most)
    assert (outcome, sent.topic, sent.partition) == (Outcome.ANSWERED, "replies", 9)
    error = json.loads(sent.value or b"")["error"]
    assert (error["class"], "ask again later" in error["message"]) == ("overloaded", True)


async def test_a_far_deadline_is_brought_forward(record: Callable[..., Record]) -> None:
    _, sent = await run(record(question(deadline=9_999_999.0), headers=ADDRESS))
    prepared = next(json.loads(each.value or b"") for each in sent if each.topic == "prepared")
    assert prepared["deadline"] == 1_060.5


async def test_a_store_that_is_down_is_told_and_not_waited_for(record: Callable[..., Record]) -> None:
    outcome, (sent,) = await run(record(question(), headers=ADDRESS), error=StoreUnavailable("down"))
    assert outcome is Outcome.ANSWERED
    assert json.loads(sent.value or b"")["error"]["class"] == "internal"


async def prepared(fields: dict[str, Any], synonyms: str = "", **profile: Any) -> tuple[PreparedQuery, Expected]:
    """Prepare a question under a profile of these fields."""
    made = Profile(**{"name": "own", "summary": "s", "legs": ("dense", "fulltext"), **profile})
    deps = prepare.Deps(
        profiles={"own": made},
        synonyms={"own": Synonyms(parse(synonyms))} if synonyms else {},
        generations=Generations(),
        clock=lambda: 1_000.5,
    )
    request = QueryRequest(**{"query_id": "q", "tenant": "acme", "text": "refund", "profile": "own", **fields})
    asked = prepare.Asked(request=request, reply_to=ReplyTo(topic="replies"), at=1_000.0, ticket="0-0")
    expected, query = (each.message for each in await prepare.handle(asked, deps))
    assert isinstance(query, PreparedQuery)
    assert isinstance(expected, Expected)
    assert expected.query == query
    return query, expected


async def test_synonyms_are_for_the_vectors_and_leave_text_and_terms_alone() -> None:
    query, _ = await prepared({"text": "cars"}, synonyms="car, vehicle")
    assert (query.text, query.terms, query.expanded) == ("cars", ("car",), "cars vehicle")
    query, _ = await prepared({"text": "boats"}, synonyms="car, vehicle")
    assert query.expanded == ""


async def test_places_of_whole_words_go_along() -> None:
    query, _ = await prepared({"text": "Error E1042 when exporting to CSV"})
    assert query.terms == ("error", "e1042", "1042", "export", "csv")
    assert query.words == (0, 1, 3, 4)


@pytest.mark.parametrize(("asked", "spoken"), [({}, "de"), ({"language": "fr"}, "fr")])
async def test_the_language_of_the_profile_holds_unless_the_question_names_one(
    asked: dict[str, str], spoken: str
) -> None:
    query, _ = await prepared({"text": "Who wrote this?", **asked}, language="de")
    assert query.language == spoken


@pytest.mark.parametrize(
    ("asked", "profile", "candidates"),
    [
        ({}, {"candidates": 25}, 25),
        ({}, {"candidates": 25, "candidates_per_passage": 2, "passages": 4}, 2 * 4),
        ({"top_k": 10}, {"candidates": 25, "candidates_per_passage": 2}, 2 * 10),
        ({"top_k": 100}, {"candidates": 25, "candidates_per_passage": 2}, 25),
    ],
)
async def test_candidates_follow_the_passages_that_are_asked_for(
    asked: dict[str, int], profile: dict[str, int], candidates: int
) -> None:
    query, _ = await prepared(asked, **profile)
    assert query.candidates == candidates


async def test_legs_that_the_profile_does_not_run_are_reported() -> None:
    _, expected = await prepared({})
    assert expected.skipped == dict.fromkeys(("sparse", "qa", "graph"), "off in profile")


E5 = Model(name="multilingual-e5-small", dimension=384)


@pytest.mark.parametrize(("profile", "embedder"), [("general", "m"), ("multilingual", E5.name)])
async def test_a_question_says_whose_vectors_are_searched(
    record: Callable[..., Record], profile: str, embedder: str
) -> None:
    _, sent = await run(record(question(profile=profile), headers=ADDRESS), also=(E5,))
    prepared = next(json.loads(each.value or b"") for each in sent if each.topic == "prepared")
    assert prepared["embedder"] == embedder


async def test_a_question_may_name_a_generation_beside_the_live_one(record: Callable[..., Record]) -> None:
    _, sent = await run(record(question(generation="g2"), headers=ADDRESS))
    prepared = next(json.loads(each.value or b"") for each in sent if each.topic == "prepared")
    assert (prepared["generation"], prepared["embedder"]) == ("g2", "n")


async def test_an_unknown_generation_is_refused_with_those_that_there_are(record: Callable[..., Record]) -> None:
    _, (sent,) = await run(record(question(generation="g9"), headers=ADDRESS))
    assert json.loads(sent.value or b"")["error"]["message"] == (
        "there is no generation 'g9'; there are g1 (live), g2 (building)"
    )


async def test_a_profile_whose_embedder_the_generation_lacks_is_refused_with_what_to_set(
    record: Callable[..., Record],
) -> None:
    outcome, (sent,) = await run(record(question(profile="multilingual"), headers=ADDRESS))
    error = json.loads(sent.value or b"")["error"]
    assert (outcome, error["class"], error["field"]) == (Outcome.ANSWERED, "validation", "profile")
    assert "'multilingual'" in error["message"]
    assert "generation g1" in error["message"]
    assert "reindex start --also multilingual-e5-small" in error["message"]


class Looked:
    """Answers that are not there, and which models they were looked up for."""

    def __init__(self) -> None:
        self.models: list[Sequence[str]] = []

    async def look(self, *_: object, models: Sequence[str], **__: object) -> answer_cache.Looked:
        self.models.append(models)
        return answer_cache.Looked()


@pytest.mark.parametrize(
    ("profile", "reranker", "models"),
    [
        ("general", "bge", ("m",)),
        ("knowledge-base", "bge", ("m", "bge")),
        ("knowledge-base", None, ("m", "")),
    ],
)
async def test_answers_are_kept_by_the_models_that_make_them(
    profile: str, reranker: str | None, models: tuple[str, ...]
) -> None:
    looked: Any = Looked()
    deps = prepare.Deps(
        profiles=profiles.shipped(), generations=Generations(), clock=lambda: 1.0, answers=looked, reranker=reranker
    )
    request = QueryRequest(query_id="q", tenant="acme", text="refund", profile=profile, progressive=True)
    asked = prepare.Asked(request=request, reply_to=ReplyTo(topic="replies", partition=1), at=1.0, ticket="0-1")
    sent = await prepare.handle(asked, deps)
    assert looked.models == [models]
    assert isinstance(sent[0].message, Expected)
    assert sent[0].message.progressive


@pytest.mark.parametrize(
    ("version", "error", "behind"), [(3, None, 0), (5, None, 2), (5, StoreUnavailable("down"), None)]
)
async def test_how_fresh_the_index_is_is_looked_at_before_the_search(
    record: Callable[..., Record], version: int, error: Exception | None, behind: int | None
) -> None:
    class Passages(MemoryPassages):
        async def live_versions(self, *_: object) -> dict[tuple[str, str], int]:
            if error is not None:
                raise error
            return {("help", "a"): 3}

    deps = prepare.Deps(
        profiles=profiles.shipped(),
        generations=Generations(),
        clock=lambda: 1_000.5,
        passages=Passages(State()),
    )
    sent: list[RawOutgoing] = []

    async def produce(outgoing: RawOutgoing) -> None:
        sent.append(outgoing)

    wanted = [{"source": "help", "doc_id": "a", "version": version}]
    asked = record(question(min_version=wanted), headers=ADDRESS)
    await Runner(prepare.PREPARE, deps, produce, clock=lambda: 1_000.5).run(asked)
    (expected,) = [json.loads(each.value or b"") for each in sent if each.topic == "leg-results"]
    assert (expected["behind"], expected["min_version"]) == (behind, wanted)
