"""What a question's legs found, passage by passage: only what is live and visible, each leg's best hit of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from schemas.queries import Hit, Leg, LegResult
from schemas.replies import LegScore
from streams.domain.versions import LivePassage

QUESTIONS = "questions"  # the dense leg's second list: Q&A pairs by their question alone
LEXICAL = "lexical"  # its third: passages by the lexical weights of its model


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Passages, numbered in the order in which they were first seen, and how each list ranks them."""

    passages: list[LivePassage] = field(default_factory=list)
    evidence: list[dict[str, None]] = field(default_factory=list)  # by passage: the chunks that were hit, in order
    lists: dict[str, dict[int, LegScore]] = field(
        default_factory=dict
    )  # by list that ran: passage to place, best first
    stale: dict[str, int] = field(default_factory=dict)  # by leg: hits that are no longer, or not yet, live and visible

    def legs(self, number: int) -> dict[str, LegScore]:
        """Return what each list says of a passage that it found."""
        return {name: places[number] for name, places in self.lists.items() if number in places}

    def legs_of_all(self) -> list[dict[str, LegScore]]:
        """Return what `legs` says, of every passage."""
        found: list[dict[str, LegScore]] = [{} for _ in self.passages]
        for name, places in self.lists.items():
            for number, place in places.items():
                found[number][name] = place
        return found


def gather(
    results: Mapping[Leg, LegResult], live: Mapping[str, LivePassage], *, unlisted: Sequence[Leg] = ()
) -> Candidates:
    """Merge the legs' hits over the passages that are live.

    A leg that ran without finding anything has an empty list, one that did not run has none. Hits of `unlisted` legs
    are counted where they are stale, and are no candidates.
    """
    found = Candidates()
    numbers: dict[str, int] = {}
    for leg, result in results.items():
        found.stale[leg] = sum(hit.chunk_id not in live for hit in (*result.hits, *result.questions, *result.lexical))
        if leg in unlisted or result.status not in ("ok", "empty"):
            continue
        found.lists[leg] = _places(result.hits, live, numbers, found)
        if result.questions:
            found.lists[QUESTIONS] = _places(result.questions, live, numbers, found)
        if result.lexical:
            found.lists[LEXICAL] = _places(result.lexical, live, numbers, found)
    return found


def by_meaning(lists: Mapping[str, dict[int, LegScore]]) -> dict[int, LegScore]:
    """Return the dense list with the questions of pairs in it: a nearer question lifts its pair half of the way.

    Short questions are alike in their form ("Can I get …?"), so that a question alone would let loose pairs win: its
    answer has to be near as well. A pair beyond the dense list counts from the list's last score on, and one that stays
    below it would not have been in it.
    """
    dense, questions = lists.get("dense", {}), lists.get(QUESTIONS, {})
    if not questions:
        return dense
    last = min((place.score for place in dense.values()), default=0.0)
    scores = {number: place.score for number, place in dense.items()}
    for number, place in questions.items():
        known = scores.get(number, last)
        if place.score > known:
            scores[number] = (known + place.score) / 2
    order = sorted(scores, key=lambda number: (-scores[number], number))
    return {number: LegScore(rank=rank, score=scores[number]) for rank, number in enumerate(order, start=1)}


def _places(
    hits: Sequence[Hit], live: Mapping[str, LivePassage], numbers: dict[str, int], found: Candidates
) -> dict[int, LegScore]:
    places: dict[int, LegScore] = {}
    passages, evidence = found.passages, found.evidence
    for hit in hits:
        passage = live.get(hit.chunk_id)
        if passage is None:
            continue
        number = numbers.get(passage.passage_id)
        if number is None:
            number = numbers[passage.passage_id] = len(passages)
            passages.append(passage)
            evidence.append({hit.chunk_id: None})
        else:
            evidence[number][hit.chunk_id] = None
        if number not in places:
            places[number] = LegScore(rank=len(places) + 1, score=hit.score)
    return places
