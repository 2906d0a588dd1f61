"""The absolute score of the support profile: cosine, or how much of the question a text covers.

Lexical coverage is 0.25 + 0.6 × the share of the question's stemmed words found in the passage, capped at 0.95. As the
share ends at 1, it peaks at 0.85: the cap is never reached. It is the least that a Q&A pair gets as well, so a pair and
a passage with every word can tie; ties go to the higher fused score, then to the lower passage id.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from schemas.replies import LegScore
from streams.domain.profile import Profile

BASE = 0.25
SLOPE = 0.6
CAP = 0.95


def share(found: Collection[int], words: Collection[int]) -> float:
    """Return the share of a question's words that a text has; `found` and `words` are places among its terms."""
    return len(set(found).intersection(words)) / len(words) if words else 0.0


def coverage(share_found: float) -> float:
    """Return the lexical coverage for a share of words; from 0.25 to 0.85."""
    return min(CAP, BASE + SLOPE * share_found)


def absolute(legs: Mapping[str, LegScore], share_found: float, profile: Profile, *, most_bm25: float) -> float | None:
    """Return the absolute score of a candidate, or None where it has to go.

    Found by vectors: the higher of cosine and coverage. By BM25: the higher of its score and coverage. By the Q&A or
    graph leg: at least what the profile says. Only by full text: coverage, if it shares a word with the question.

    most_bm25: the BM25 score of a text that could not match better, which a calibrated score is a share of.
    """
    score = coverage(share_found)
    if set(legs) == {"fulltext"} and not share_found:
        return None
    if "dense" in legs:
        score = max(score, legs["dense"].score)
    if "questions" in legs:
        score = max(score, legs["questions"].score)
    if "sparse" in legs:
        raw = legs["sparse"].score
        score = max(score, min(1.0, raw / most_bm25 if most_bm25 else 0.0) if profile.calibrated_bm25 else raw)
    if "qa" in legs:
        score = max(score, profile.qa_least)
    if "graph" in legs:
        score = max(score, profile.graph_least)
    return score
