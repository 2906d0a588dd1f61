"""A profile: the configuration of a whole search, as data."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from schemas.chunks import Level
from schemas.queries import Leg

Positive = Annotated[int, msgspec.Meta(ge=1)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=60)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Weight = Annotated[float, msgspec.Meta(ge=0)]


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which legs run, how much each may return, how they are fused, scored and cut, and how long it may take."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9-]+$", max_length=64)]
    summary: str

    # What is searched
    legs: Annotated[tuple[Leg, ...], msgspec.Meta(min_length=1)]
    levels: tuple[Level, ...] = ("parent", "child")  # of the dense leg
    embedder: str | None = None  # whose vectors the dense leg searches; absent: the generation's first
    route_by_language: bool = False  # what an embedder says of a script that it cannot read does not count in scores
    lexical: bool = False  # the embedder's lexical weights (BGE-M3's) are searched too, as one more list
    language: str | None = None  # of all questions and their stemmer; absent: detected
    synonyms: str | None = None  # a dictionary, applied to the text of both vectors
    qa_prefix: bool = False  # a word of a question also matches as the beginning of a pair's word
    candidates: Positive = 30  # per leg
    candidates_per_passage: Positive | None = None  # with it, a leg has this × passages, at most `candidates`

    # What becomes of a question before it is searched
    greeting_gate: bool = False  # a greeting or "thanks" is answered at once, and not searched
    # Of follow-ups: terms: what the last turn spoke of is carried along; llm: a language model rewrites them.
    rewrite: Literal["none", "terms", "llm"] = "none"
    expansions: Annotated[int, msgspec.Meta(ge=0, le=5)] = 0  # other phrasings by a language model, searched as well
    graph_global: bool = False  # the graph leg answers broad questions with overviews that a language model made before

    # How candidates are fused and scored
    weights: dict[Leg, Weight] = {}  # of a leg's ranks in the fusion; 1 where absent
    rrf_k: Positive = 60
    rrf_first: Literal[0, 1] = 1  # the number of the first rank
    fused: Positive | None = None  # how many candidates fusion keeps
    rerank_depth: Positive | None = None  # of these so many are reranked, and the rest dropped
    # What passages are ordered by: the fused ranks; the reference's absolute score; or P(relevant).
    score: Literal["fused", "coverage", "relevance"] = "fused"
    agreement: Share = 0.0  # at most so much is added to an absolute score when all legs agree
    graph_boost: Share = 0.0  # at most so much is added to an absolute score for the first of the graph leg
    calibrated_bm25: bool = False  # BM25 as a share of the most it could be; else its raw score
    qa_least: Share = 0.0  # the least absolute score of a Q&A pair that the Q&A leg found
    graph_least: Share = 0.0  # the same of what the graph leg found
    floor: Share | None = None  # passages with a lower absolute score are dropped

    # What is returned
    passages: Positive = 5  # unless the question says otherwise
    distinct: bool = True  # one text once
    graph_summary: Literal["beside", "passage"] = "beside"  # a field of the reply, or a passage among the others
    pinned: bool = False  # documents that are pinned for the agent come along
    passage_chars: Positive | None = None  # of each text
    total_chars: Positive | None = None  # of all texts, pinned ones included
    cut: Literal["head", "sentences"] = "head"  # what of a longer text is kept: its start, or the sentences that match

    # How long it may take, and be kept
    budget: Seconds = 5.0  # until the deadline, unless the question brings one
    legs_budget: Seconds = 2.0  # how long a slow leg is waited for
    cache_seconds: Annotated[int, msgspec.Meta(ge=0, le=86_400)] = 300  # 0: nothing is kept
