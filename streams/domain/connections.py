"""What the graph leg adds to a reply: a summary of the facts that are live, beside the passages or as one of them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence

from schemas.graph import Fact
from schemas.queries import Leg, LegResult, PreparedQuery
from schemas.replies import LegScore, Summary
from streams.domain import tokens
from streams.domain.candidates import Candidates
from streams.domain.summary import is_named, summarise, worth_telling
from streams.domain.versions import LivePassage

TITLE = "How these connect"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://rankstream.dev/summary")


def live_facts(results: Mapping[Leg, LegResult], live: Mapping[str, LivePassage]) -> tuple[Fact, ...]:
    """Return the facts to tell of, whose chunk is live and visible: what was deleted is not told of either."""
    graph = results.get("graph")
    return tuple(worth_telling([fact for fact in graph.facts if fact.chunk_id in live])) if graph else ()


def summary(facts: Sequence[Fact], query: PreparedQuery) -> Summary | None:
    """Return the summary that stands beside the passages.

    It tells how things that were asked about connect; where nothing says so, what is said of a name that was asked for.
    """
    asked = _Asked(query)
    told = asked.connecting(facts) or [fact for fact in facts if fact.label and asked.has_name(fact.subject)]
    text = summarise(told)
    return Summary(text=text, facts=tuple(told)) if text else None


class _Asked:
    """What a question asks about, by its words."""

    def __init__(self, query: PreparedQuery) -> None:
        self._terms = set(query.terms)
        self._language = query.language

    def connecting(self, facts: Sequence[Fact]) -> list[Fact]:
        """Return the facts that say how two things of the question connect: each is a name and shares a word."""
        return [
            fact
            for fact in facts
            if fact.label
            and is_named(fact.subject)
            and is_named(fact.object)
            and (one := self._shared(fact.subject))
            and (other := self._shared(fact.object))
            and one != other
        ]

    def has_name(self, text: str) -> bool:
        """Tell whether a text is a name or figure that was asked for."""
        return is_named(text) and bool(self._shared(text))

    def _shared(self, text: str) -> set[str]:
        return self._terms.intersection(token.term for token in tokens.tokens(text, self._language))


def add(found: Candidates, facts: Sequence[Fact], live: Mapping[str, LivePassage], query: PreparedQuery) -> None:
    """Make the summary a candidate: the only one of the graph leg, as external as any text behind it.

    It outranks nearly everything, so there is one only where facts connect two things that were asked about.
    """
    facts = _Asked(query).connecting(facts)
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
