"""Scores candidates as a profile says: by their fused ranks, by the reference's absolute score, or by P(relevant)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from schemas.queries import Leg, LegResult, PreparedQuery
from streams.domain import bm25, coverage, fusion, relevance
from streams.domain.candidates import Candidates, by_meaning
from streams.domain.profile import Profile
from streams.domain.relevance import Column, Evidence, Weights

# Added to the logarithm of the odds of being relevant, where a passage has all codes of the question:
NAME_LIFT = 2.5  # at least
NAME_ALONE = 5.0  # times what share of all that the question says the codes are
GRAPH_FIRST = 5  # places of the graph leg's list that a boost reaches: further down it has mere neighbours

Numbers = Mapping[int, float]  # by candidate


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The arithmetic of every candidate."""

    score: Numbers  # what they are ordered by
    fused: Numbers
    coverage: Numbers  # how much of the question the text has, as the profile's score counts it
    absolute: Numbers = field(default_factory=dict)  # what a floor is held against; empty: ordered by fused ranks
    boost: Numbers = field(default_factory=dict)  # what was added to the absolute score
    refused: Mapping[int, str] = field(default_factory=dict)  # candidates that have to go, with the rule
    signals: Mapping[str, Column] = field(default_factory=dict)  # what P(relevant) is computed from
    idf: Sequence[float] = ()  # by term of the question


def score(
    query: PreparedQuery,
    results: Mapping[Leg, LegResult],
    found: Candidates,
    fused: Numbers,
    *,
    profile: Profile,
    weights: Weights | None,
    unread: bool = False,
    explain: bool = False,
) -> Scores:
    """Score every candidate.

    unread: the embedder cannot read the question, and what it says does not count. With `explain` fused ranks come with
    the signals too, which P(relevant) is fitted to.
    """
    evidence = _evidence(query, results, found, unread=unread)
    if profile.score == "coverage":
        return _by_coverage(query, found, fused, evidence, profile)
    if profile.score == "relevance":
        return _by_relevance(query, found, fused, evidence, profile=profile, weights=weights)
    covered = dict(enumerate(relevance.coverage(evidence).tolist()))
    seen = relevance.signals(evidence) if explain else {}
    return Scores(score=fused, fused=fused, coverage=covered, signals=seen, idf=evidence.idf)


def _evidence(
    query: PreparedQuery, results: Mapping[Leg, LegResult], found: Candidates, *, unread: bool = False
) -> Evidence:
    # Each text leg counts its own kind of passage.
    texts: tuple[Leg, ...] = ("fulltext", "qa")
    lists = {name: places for name, places in found.lists.items() if name != "dense"}
    if "dense" in found.lists and not unread:
        lists["dense"] = by_meaning(found.lists)
    counts = [results[leg] for leg in texts if leg in results and len(results[leg].frequencies) == len(query.terms)]
    return Evidence(
        candidates=len(found.passages),
        asked=query.candidates,
        lists=lists,
        terms=[passage.terms for passage in found.passages],
        lengths=[len(passage.body) for passage in found.passages],
        idf=relevance.inverse_document_frequency(
            [sum(of) for of in zip(*(each.frequencies for each in counts), strict=True)],
            sum(each.counted for each in counts),
            len(query.terms),
        ),
    )


def _by_coverage(
    query: PreparedQuery, found: Candidates, fused: Numbers, evidence: Evidence, profile: Profile
) -> Scores:
    words = query.words or range(len(query.terms))
    most_bm25 = sum(evidence.idf) * (bm25.K1 + 1)
    shares = [coverage.share(passage.terms, words) for passage in found.passages]
    legs = found.legs_of_all()
    judged = {number: coverage.absolute(legs[number], shares[number], profile, most_bm25=most_bm25) for number in fused}
    absolute = {number: 0.0 if score is None else score for number, score in judged.items()}
    boost = _boosts(found, fused, profile)
    return Scores(
        score={number: value + boost.get(number, 0.0) for number, value in absolute.items()},
        fused=fused,
        coverage={number: coverage.coverage(share) for number, share in enumerate(shares)},
        absolute=absolute,
        boost=boost,
        refused={number: "shares no word with the question" for number, score in judged.items() if score is None},
        idf=evidence.idf,
    )


def _by_relevance(
    query: PreparedQuery,
    found: Candidates,
    fused: Numbers,
    evidence: Evidence,
    *,
    profile: Profile,
    weights: Weights | None,
) -> Scores:
    """Score by P(relevant), or by the fused ranks where nothing was fitted for the embedder."""
    seen = relevance.signals(evidence)
    covered = dict(enumerate(seen["coverage"].tolist()))
    if weights is None or not fused:
        return Scores(score=fused, fused=fused, coverage=covered, signals=seen, idf=evidence.idf)
    chance = relevance.relevance(weights.models[relevance.legs_of(evidence)], seen).tolist()
    lifted = _lifted(chance, _named(query, found, evidence.idf))
    boosts = _boosts(found, fused, profile)
    # A boost takes its share of what is left to certainty: what is bounded at 1 keeps its order.
    score = {number: lifted[number] + boosts.get(number, 0.0) * (1 - lifted[number]) for number in fused}
    return Scores(
        score=score,
        fused=fused,
        coverage=covered,
        absolute=dict(enumerate(lifted)),
        boost={number: value - lifted[number] for number, value in score.items()},
        refused={} if "dense" in evidence.lists else _silent(found),
        signals=seen,
        idf=evidence.idf,
    )


def _boosts(found: Candidates, fused: Numbers, profile: Profile) -> Numbers:
    """Return what is added for how far the legs agree on a candidate, and for a good place in the graph leg's list.

    Both are bounded by the profile. They move the order and never lift anything over the floor: that two legs agree, or
    that things connect, does not make a text relevant.
    """
    boost: dict[int, float] = {}
    if profile.agreement:
        ran = [name for name, places in found.lists.items() if places]
        how = {"k": profile.rrf_k, "first": profile.rrf_first}
        for number, value in fused.items():
            boost[number] = profile.agreement * fusion.agreement(value, ran, weights=profile.weights, **how)
    if profile.graph_boost:
        for number, place in found.lists.get("graph", {}).items():
            if place.rank <= GRAPH_FIRST:
                boost[number] = boost.get(number, 0.0) + profile.graph_boost * min(1.0, place.score)
    return boost


def _named(query: PreparedQuery, found: Candidates, idf: Sequence[float]) -> dict[int, float]:
    """Return what the question's codes that a passage has add to the logarithm of its odds; empty without codes.

    Whoever writes E1042 or v2.10 means just that, and vectors hardly tell one code from its neighbour; least of all
    where there is nothing else in the question. Rare codes count more than common ones.
    """
    codes = {place for place, term in enumerate(query.terms) if any(letter.isdigit() for letter in term)}
    said = sum(idf[place] for place in codes)
    if not said:
        return {}
    lift = max(NAME_LIFT, NAME_ALONE * said / sum(idf))
    return {
        number: lift * sum(idf[place] for place in codes.intersection(passage.terms)) / said
        for number, passage in enumerate(found.passages)
    }


def _lifted(chance: Sequence[float], named: Numbers) -> Sequence[float]:
    """Return the chances with what is `named` added to the logarithm of their odds."""
    if not named:
        return chance
    factor = [math.exp(named[number]) for number in range(len(chance))]
    return [p * f / (1 - p + p * f) for p, f in zip(chance, factor, strict=True)]


def _silent(found: Candidates) -> dict[int, str]:
    """Return the candidates that nothing speaks for where no vector was read: they share no word with the question."""
    return {
        number: "shares no word with the question" for number, passage in enumerate(found.passages) if not passage.terms
    }
