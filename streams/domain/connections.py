"""What the graph leg adds to a reply: a summary of the facts that are live, beside the passages or as one of them."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence

from schemas.documents import Trust
from schemas.graph import Fact, Overview
from schemas.queries import Leg, LegResult, PreparedQuery
from schemas.replies import LegScore, Summary
from streams.domain import texts, tokens
from streams.domain.candidates import Candidates
from streams.domain.summary import is_named, summarise, worth_telling
from streams.domain.versions import LivePassage

TITLE = "How these connect"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://rankstream.dev/summary")


def live_facts(results: Mapping[Leg, LegResult], live: Mapping[str, LivePassage]) -> tuple[Fact, ...]:
    """Return the facts to tell of, whose chunk is live and visible: what was deleted is not told of either."""
    graph = results.get("graph")
    return tuple(worth_telling([fact for fact in graph.facts if fact.chunk_id in live])) if graph else ()


def live_overviews(results: Mapping[Leg, LegResult], live: Mapping[str, LivePassage]) -> tuple[Overview, ...]:
    """Return the overviews whose every chunk is live and visible: nobody can tell which one said what."""
    graph = results.get("graph")
    found = graph.overviews if graph else ()
    return tuple(each for each in found if each.evidence and live.keys() >= set(each.evidence))


def summary(
    facts: Sequence[Fact], overviews: Sequence[Overview], live: Mapping[str, LivePassage], query: PreparedQuery
) -> Summary | None:
    """Return the summary that stands beside the passages.

    It tells how things that were asked about connect; where nothing says so, what is said of a name that was asked for.
    Overviews, for a broad question, come first; where a text from outside is behind one, the warning is in front.
    """
    asked = _Asked(query)
    told = asked.connecting(facts) or [fact for fact in facts if fact.label and asked.has_name(fact.subject)]
    evidence = tuple(dict.fromkeys(chunk for overview in overviews for chunk in overview.evidence))
    lines = [*(f"{overview.title}: {overview.text}" for overview in overviews), summarise(told)]
    text = "\n".join(filter(None, lines))
    if not text:
        return None
    marked = texts.marked(text, _trust(evidence, live))
    return Summary(text=marked, facts=tuple(told), evidence=evidence)


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


def add(
    found: Candidates,
    facts: Sequence[Fact],
    overviews: Sequence[Overview],
    live: Mapping[str, LivePassage],
    query: PreparedQuery,
) -> None:
    """Make overviews and the summary of facts candidates: the only ones of the graph leg, as external as their texts.

    A summary outranks nearly everything, so there is one only where facts connect two things that were asked about.
    """
    for overview in overviews:
        title = f"Overview: {overview.title}"
        _add(found, title, overview.text, overview.evidence, score=overview.score, live=live, query=query)
    facts = _Asked(query).connecting(facts)
    if text := summarise(facts):
        evidence = [fact.chunk_id for fact in facts]
        _add(found, TITLE, text, evidence, score=max(fact.score for fact in facts), live=live, query=query)


def _add(
    found: Candidates,
    title: str,
    text: str,
    behind: Sequence[str],
    *,
    score: float,
    live: Mapping[str, LivePassage],
    query: PreparedQuery,
) -> None:
    evidence = dict.fromkeys(behind)
    has = {token.term for token in tokens.tokens(text, query.language)}
    places = found.lists.setdefault("graph", {})
    places[len(found.passages)] = LegScore(rank=len(places) + 1, score=score)
    found.passages.append(
        LivePassage(
            passage_id=str(uuid.uuid5(_NAMESPACE, text)),
            heading_path=(),
            body=text,
            source="",
            doc_id="",
            version=0,
            kind="graph",
            title=title,
            uri="",
            trust=_trust(evidence, live),
            language=query.language,
            terms=tuple(place for place, term in enumerate(query.terms) if term in has),
        )
    )
    found.evidence.append(evidence)


def _trust(evidence: Iterable[str], live: Mapping[str, LivePassage]) -> Trust:
    return "external" if any(live[chunk].trust == "external" for chunk in evidence) else "internal"
