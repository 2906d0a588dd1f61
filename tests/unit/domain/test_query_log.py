"""What is kept of a question and of an answer."""

from __future__ import annotations

import time

from schemas import codec
from schemas.queries import Filters, QueryRequest, Turn
from schemas.replies import ErrorInfo, LegReport, LegScore, Milliseconds, Passage, QueryReply
from streams.domain import query_log

SECRET = "hunter2"
PASSAGE = Passage(
    rank=1,
    passage_id="p1",
    source="help",
    doc_id="a.md",
    version=3,
    kind="document",
    title="A title that may be deleted",
    heading_path=("A heading that may be deleted",),
    uri="https://help.example/a",
    trust="internal",
    text="A text that may be deleted.",
    score=0.8,
    fused=0.1,
    legs={"dense": LegScore(rank=1, score=0.8)},
    evidence=("c1",),
)


def test_a_question_is_kept_with_its_tenant_and_without_its_secrets_wherever_they_stand() -> None:
    request = QueryRequest(
        query_id="q1",
        tenant="acme",
        agent="front",
        text=f"my password is {SECRET}, why?",
        history=(Turn(role="user", text=f"password: {SECRET}"), Turn(role="assistant", text="write to a@b.example")),
        filters=Filters(sources=("help",), tags=("of jane@b.example",), directory="people/jane@b.example/"),
    )
    kept = query_log.question(request, at=12.5)
    assert (kept.query_id, kept.tenant, kept.agent, kept.at) == ("q1", "acme", "front", 12.5)
    assert kept.text == "my password is (password), why?"
    assert kept.filters.sources == ("help",)
    said = codec.encode(kept).decode()
    assert SECRET not in said
    assert "b.example" not in said


def test_a_secret_at_the_place_where_a_long_question_is_cut_is_masked_before_the_cut() -> None:
    key = "ghp_" + "a1B2" * 9
    text = "x " * (query_log.LONGEST // 2 - 5) + key + " y" * 100
    kept = query_log.question(QueryRequest(query_id="q", tenant="acme", text=text), at=0.0)
    assert len(kept.text) == query_log.LONGEST + 1
    assert "ghp_" not in kept.text


def test_a_long_conversation_is_kept_by_its_last_turns() -> None:
    history = tuple(Turn(role="user", text=f"{number} " + "z " * 2_500) for number in range(50))
    kept = query_log.question(QueryRequest(query_id="q", tenant="acme", text="a", history=history), at=0.0)
    assert [turn.text.split()[0] for turn in kept.history] == [str(number) for number in range(40, 50)]
    assert max(len(turn.text) for turn in kept.history) == query_log.LONGEST_TURN + 1


def test_the_longest_conversation_is_soon_masked() -> None:
    turns = tuple(Turn(role="user", text="which port, 8080 or v2.10? " * 700) for _ in range(50))
    request = QueryRequest(query_id="q", tenant="acme", text="a" * 20_000, history=turns)
    began = time.process_time()
    query_log.question(request, at=0.0)
    assert time.process_time() - began < 0.5  # 0.03 on a quiet machine


def test_an_answer_is_kept_by_ids_and_scores_and_without_a_word_of_its_documents() -> None:
    reply = QueryReply(
        query_id="q1",
        revision=2,
        degraded=True,
        reasons=("rerank: https://u:hunter2@llm.example did not answer",),
        generation="g1",
        milliseconds=Milliseconds(total=31.0),
        legs={"dense": LegReport(status="ok"), "graph": LegReport(status="timeout")},
        passages=(PASSAGE,),
    )
    kept = query_log.reply(reply, "acme", at=13.0)
    (passage,) = kept.passages
    assert (passage.source, passage.doc_id, passage.version, passage.rank, passage.score) == ("help", "a.md", 3, 1, 0.8)
    assert (kept.tenant, kept.revision, kept.milliseconds, kept.degraded) == ("acme", 2, 31.0, True)
    assert kept.legs == {"dense": "ok", "graph": "timeout"}
    said = codec.encode(kept).decode()
    assert "may be deleted" not in said
    assert SECRET not in said


def test_why_there_was_no_answer_is_kept_masked() -> None:
    error = ErrorInfo(error_class="validation", message=f"profile: there is no profile 'password={SECRET}'")
    kept = query_log.reply(QueryReply(query_id="q", milliseconds=Milliseconds(total=0.0), error=error), "", at=0.0)
    assert kept.error is not None
    assert kept.error.error_class == "validation"
    assert SECRET not in kept.error.message
