"""From leg results and live passages to a ranked reply: the order of the steps of `fuse`, pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schemas.chunks import chunk_text
from schemas.queries import Leg, LegResult, PreparedQuery
from schemas.replies import Dropped, Passage, Summary
from streams.domain import candidates, connections, scoring, texts
from streams.domain.candidates import Candidates
from streams.domain.fusion import reciprocal_rank_fusion
from streams.domain.profile import Profile
from streams.domain.relevance import Weights
from streams.domain.scoring import Scores
from streams.domain.versions import LivePassage

_FIRST_WORDS = 4


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """What a search found, and what it left out."""

    passages: tuple[Passage, ...]
    whole: tuple[str, ...]  # by passage: its text, neither cut nor marked
    contexts: tuple[str, ...]  # by passage: where it stands, for a reranker
    dropped: tuple[Dropped, ...]
    stale_hits: Mapping[str, int]  # by leg: hits that are no longer, or not yet, live and visible
    pinned: tuple[Passage, ...] = ()
    summary: Summary | None = None


def rank(
    query: PreparedQuery,
    results: Mapping[Leg, LegResult],
    live: Mapping[str, LivePassage],
    *,
    profile: Profile,
    top_k: int,
    weights: Weights | None = None,
    pinned: Sequence[LivePassage] = (),
    floor: float | None = None,
    unread: bool = False,
    explain: bool = False,
) -> Ranked:
    """Merge the legs by passage, fuse, keep the best of the fused list, score, order, drop, and cut the texts.

    No step looks at how many passages are wanted before they are in order, so asking for more never changes the first.
    """
    floor = profile.floor if floor is None else floor
    facts, overviews = connections.live_facts(results, live), connections.live_overviews(results, live)
    ranked_summary = profile.graph_summary == "passage"
    found = candidates.gather(results, live, unlisted=("graph",) if ranked_summary else ())
    if ranked_summary and (facts or overviews):
        connections.add(found, facts, overviews, live, query)
    fused = reciprocal_rank_fusion(found.lists, k=profile.rrf_k, first=profile.rrf_first, weights=profile.weights)
    scores = scoring.score(
        query, results, found, fused, profile=profile, weights=weights, unread=unread, explain=explain
    )
    order, dropped = _fused_best(found, fused, profile)
    order.sort(key=lambda number: (-scores.score[number], -fused[number], found.passages[number].passage_id))
    dropped += _beyond(order, profile.rerank_depth, "the rerank depth")
    kept: list[int] = []
    always_there = frozenset(passage.passage_id for passage in pinned)
    for number, rule in _judged(order, found, scores, always_there, floor=floor, distinct=profile.distinct):
        if rule is None and len(kept) < top_k:
            kept.append(number)
        elif explain:
            dropped.append((number, rule or "below the number of passages"))
        elif len(kept) == top_k:
            break
    room = texts.Room(profile)
    always = texts.pinned(pinned, room)
    shown: list[Passage] = []
    whole: list[str] = []
    contexts: list[str] = []
    for number in kept:
        text = texts.shown(found, number, room, query=query, scores=scores)
        if text:
            shown.append(texts.passage(found, number, scores, rank=len(shown) + 1, text=text, explain=explain))
            whole.append(chunk_text(found.passages[number].heading_path, found.passages[number].body))
            contexts.append(found.passages[number].context)
        else:
            dropped.append((number, f"no room within {profile.total_chars} characters"))
    return Ranked(
        passages=tuple(shown),
        whole=tuple(whole),
        contexts=tuple(contexts),
        dropped=tuple(_dropped(found, dropped)) if explain else (),
        stale_hits=found.stale,
        pinned=always,
        summary=None if ranked_summary else connections.summary(facts, overviews, live, query),
    )


def _fused_best(
    found: Candidates, fused: Mapping[int, float], profile: Profile
) -> tuple[list[int], list[tuple[int, str]]]:
    """Return the candidates that fusion keeps, and the others with the rule that drops them."""
    order = sorted(fused, key=lambda number: (-fused[number], found.passages[number].passage_id))
    return order, _beyond(order, profile.fused, "the fused list")


def _beyond(order: list[int], most: int | None, what: str) -> list[tuple[int, str]]:
    """Take what comes after the first `most` out of `order`, and return it with the rule that drops it."""
    if most is None:
        return []
    dropped = [(number, f"beyond {what} of {most}") for number in order[most:]]
    del order[most:]
    return dropped


def _judged(
    order: Sequence[int],
    found: Candidates,
    scores: Scores,
    pinned: frozenset[str],
    *,
    floor: float | None,
    distinct: bool,
) -> Iterator[tuple[int, str | None]]:
    """Yield candidates in order, each with the rule that drops it, if any.

    Copies of a text would fill several of the few places, so that the best passage of each stays.
    """
    texts_seen = _Texts()
    for number in order:
        passage = found.passages[number]
        absolute = scores.absolute.get(number)
        if passage.passage_id in pinned:
            yield number, "pinned: it comes along anyway"
        elif number in scores.refused:
            yield number, scores.refused[number]
        elif floor is not None and absolute is not None and absolute < floor:
            yield number, f"below the floor of {floor:g}"
        elif distinct and (first := texts_seen.first(passage)) is not passage:
            yield number, f"same text as {first.passage_id}"
        else:
            yield number, None


class _Texts:
    """Which passage was the first with a text, white space aside.

    Whole texts are compared only where their first words are the same: with `explain` there are hundreds of long ones.
    """

    def __init__(self) -> None:
        self._begun: dict[tuple[str, ...], LivePassage | None] = {}  # by first words; None: there are several
        self._whole: dict[str, LivePassage] = {}

    def first(self, passage: LivePassage) -> LivePassage:
        """Return the first passage with this one's text: itself, where it is new."""
        begin = tuple(passage.body.split(None, _FIRST_WORDS)[:_FIRST_WORDS])
        if begin not in self._begun:
            self._begun[begin] = passage
            return passage
        lone = self._begun[begin]
        if lone is not None:
            self._whole[_one_line(lone.body)] = lone
            self._begun[begin] = None
        return self._whole.setdefault(_one_line(passage.body), passage)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _dropped(found: Candidates, dropped: Sequence[tuple[int, str]]) -> Iterator[Dropped]:
    legs = found.legs_of_all()
    for number, rule in dropped:
        yield Dropped(passage_id=found.passages[number].passage_id, rule=rule, legs=legs[number])
