"""What the graph leg adds to a reply: a summary of the facts that are live, beside the passages or as one of them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence

from schemas.graph import Fact
from schemas.queries import Leg, LegResult, PreparedQuery
from schemas.replies import LegScore, Summary
from streams.domain import tokens
from streams.domain.candidates import Candidates
from streams.domain.summary import summarise, worth_telling
from streams.domain.versions import LivePassage

TITLE = "How these connect"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://rankstream.dev/summary")


def live_facts(results: Mapping[Leg, LegResult], live: Mapping[str, LivePassage]) -> tuple[Fact, ...]:
    """Return the facts to tell of, whose chunk is live and visible: what was deleted is not told of either."""
    graph = results.get("graph")
    return tuple(worth_telling([fact for fact in graph.facts if fact.chunk_id in live])) if graph else ()


def summary(facts: Sequence[Fact]) -> Summary | None:
    """Return the summary that stands beside the passages."""
    text = summarise(facts)
    return Summary(text=text, facts=tuple(facts)) if text else None


def connecting(facts: Sequence[Fact], query: PreparedQuery) -> list[Fact]:
    """Return the facts that say how two things of the question connect: each end shares a word with it."""
    asked = set(query.terms)

    def named(text: str) -> set[str]:
        return asked.intersection(token.term for token in tokens.tokens(text, query.language))

    return [
        fact
        for fact in facts
        if fact.label and (one := named(fact.subject)) and (other := named(fact.object)) and one != other
    ]


def add(found: Candidates, facts: Sequence[Fact], live: Mapping[str, LivePassage], query: PreparedQuery) -> None:
    """Make the summary a candidate: the only one of the graph leg, as external as any text behind it.

    It outranks nearly everything, so there is one only where facts connect two things that were asked about.
    """
    facts = connecting(facts, query)
    text = summarise(facts)
    if not text:
        return
    evidence = dict.fromkeys(fact.chunk_id for fact in facts)
    has = {token.term for token in tokens.tokens(text, query.language)}
    found.lists["graph"] = {len(found.passages): LegScore(rank=1, score=max(fact.score for fact in facts))}
    found.passages.append(
        LivePassage(
            passage_id=str(uuid.uuid5(_NAMESPACE, text)),
            heading_path=(),
            body=text,
            source="",
            doc_id="",
            version=0,
            kind="graph",
            title=TITLE,
            uri="",
            trust="external" if any(live[chunk].trust == "external" for chunk in evidence) else "internal",
            language=query.language,
            terms=tuple(place for place, term in enumerate(query.terms) if term in has),
        )
    )
    found.evidence.append(evidence)
