"""Scores candidates as a profile says: by their fused ranks, by the reference's absolute score, or by P(relevant)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from schemas.queries import Leg, LegResult, PreparedQuery
from streams.domain import bm25, coverage, fusion, relevance
from streams.domain.candidates import Candidates
from streams.domain.profile import Profile
from streams.domain.relevance import Column, Evidence, Weights

NAME_BOOST = 0.2  # of the score, which is a probability

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
    signals: Mapping[str, Column] = field(default_factory=dict)  # what P(relevant) was computed from
    idf: Sequence[float] = ()  # by term of the question


def score(
    query: PreparedQuery,
    results: Mapping[Leg, LegResult],
    found: Candidates,
    fused: Numbers,
    *,
    profile: Profile,
    weights: Weights | None,
) -> Scores:
    """Score every candidate."""
    evidence = _evidence(query, results, found)
    if profile.score == "coverage":
        return _by_coverage(query, found, fused, evidence, profile)
    if profile.score == "relevance":
        return _by_relevance(query, found, fused, evidence, profile=profile, weights=weights)
    covered = dict(enumerate(relevance.coverage(evidence).tolist()))
    return Scores(score=fused, fused=fused, coverage=covered, idf=evidence.idf)


def _evidence(query: PreparedQuery, results: Mapping[Leg, LegResult], found: Candidates) -> Evidence:
    # Each text leg counts its own kind of passage.
    texts: tuple[Leg, ...] = ("fulltext", "qa")
    counts = [results[leg] for leg in texts if leg in results and len(results[leg].frequencies) == len(query.terms)]
    return Evidence(
        candidates=len(found.passages),
        asked=query.candidates,
        lists=found.lists,
        terms=[passage.terms for passage in found.passages],
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
    boost = _agreement(found, fused, profile)
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
    agreed = _agreement(found, fused, profile)
    boost = {number: named + agreed.get(number, 0.0) for number, named in _named(query, found).items()}
    return Scores(
        score={number: min(1.0, chance[number] + boost[number]) for number in fused},
        fused=fused,
        coverage=covered,
        absolute=dict(enumerate(chance)),
        boost=boost,
        signals=seen,
        idf=evidence.idf,
    )


def _agreement(found: Candidates, fused: Numbers, profile: Profile) -> Numbers:
    """Return up to the profile's `agreement` for how far the legs agree on a candidate.

    It moves the order and never lifts anything over the floor: that two legs agree does not make a text relevant.
    """
    if not profile.agreement:
        return {}
    ran = [name for name, places in found.lists.items() if places]
    how = {"k": profile.rrf_k, "first": profile.rrf_first}
    return {
        number: profile.agreement * fusion.agreement(value, ran, weights=profile.weights, **how)
        for number, value in fused.items()
    }


def _named(query: PreparedQuery, found: Candidates) -> dict[int, float]:
    """Return up to NAME_BOOST for the share of the question's codes that a passage has.

    Whoever writes E1042 or v2.10 means just that, and vectors hardly tell one code from its neighbour.
    """
    codes = {place for place, term in enumerate(query.terms) if any(letter.isdigit() for letter in term)}
    if not codes:
        return dict.fromkeys(range(len(found.passages)), 0.0)
    return {
        number: NAME_BOOST * len(codes.intersection(passage.terms)) / len(codes)
        for number, passage in enumerate(found.passages)
    }
