"""Calibration over sets: one model for every set of legs, and what it reaches on a set that it has not seen."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from schemas.replies import LegScore, Milliseconds, Passage, QueryReply
from streams.domain.relevance import LEG_SIGNALS, Evidence, signals
from streams.errors import Invalid
from streams.quality.calibrate import embedder, labelled, left_out, models, told_apart
from streams.quality.dataset import Question
from streams.quality.fitting import Labelled


def questions(count: int, *, seed: int, leg: str) -> list[Labelled]:
    """Make questions whose answer one of the legs, and not the other, puts first."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        right = int(rng.integers(10))
        dense, sparse = rng.uniform(0.1, 0.5, 10), rng.uniform(1.0, 5.0, 10)
        if leg == "dense":
            dense[right] = 0.9
        else:
            sparse[right] = 20.0
        lists = {
            name: {
                place: LegScore(rank=rank, score=of[place])
                for rank, place in enumerate(sorted(range(10), key=lambda each: -of[each]), start=1)
            }
            for name, of in (("dense", dense), ("sparse", sparse))
        }
        terms = [(0, 1) if place == right and leg == "sparse" else (0,) for place in range(10)]
        evidence = Evidence(candidates=10, lists=lists, terms=terms, lengths=[100] * 10, idf=[1.0, 4.0])
        places = tuple(f"doc-{place}" for place in range(10))
        grades = np.eye(10)[right]
        made.append(Labelled(signals=signals(evidence), grades=grades, places=places, gold={f"doc-{right}": 1}))
    return made


def test_every_set_of_legs_gets_a_model_that_looks_at_nothing_else() -> None:
    fitted = models([questions(40, seed=1, leg="dense"), questions(40, seed=2, leg="sparse")])
    assert set(fitted) == {"dense+sparse", "dense", "sparse", ""}
    assert not set(fitted["dense"].signals) & LEG_SIGNALS["sparse"]
    assert not set(fitted["sparse"].signals) & LEG_SIGNALS["dense"]
    assert set(fitted[""].signals) == {"coverage", "coverage_terms", "length"}


def test_a_model_is_measured_on_the_set_that_it_has_not_seen() -> None:
    sets = [questions(60, seed=number, leg=leg) for number, leg in enumerate(("dense", "sparse", "dense", "sparse"))]
    for row, leg in zip(left_out(sets), ("dense", "sparse", "dense", "sparse"), strict=True):
        assert getattr(row, leg) == 1.0
        assert row.model > max(row.rrf, 0.9)


def by(*embedders: str | None) -> list[Labelled]:
    made = questions(len(embedders), seed=1, leg="dense")
    return [dataclasses.replace(each, embedder=name) for each, name in zip(made, embedders, strict=True)]


def test_weights_belong_to_the_one_embedder_that_answered() -> None:
    assert embedder([by("e5", "e5"), by("e5")]) == "e5"
    with pytest.raises(Invalid, match="these answered: e5, minilm"):
        embedder([by("e5"), by("minilm")])
    with pytest.raises(Invalid, match="these answered: none"):
        embedder([by(None)])


def test_the_top_score_tells_questions_with_an_answer_from_those_without() -> None:
    fitted = models([questions(60, seed=1, leg="dense"), questions(60, seed=2, leg="sparse")])
    assert told_apart(fitted, questions(60, seed=3, leg="dense")) > 0.9
    nothing = [Labelled(signals=each.signals, grades=np.zeros(10)) for each in questions(5, seed=4, leg="dense")]
    assert np.isnan(told_apart(fitted, nothing))


class Unsigned:
    """Answers with passages that carry no signals."""

    async def ask(self, text: str, *, tenant: str, **fields: Any) -> QueryReply:
        shown = Passage(
            rank=1,
            passage_id="p",
            source="s",
            doc_id="d",
            version=1,
            kind="document",
            title="",
            heading_path=(),
            uri="",
            trust="internal",
            text="t",
            score=1.0,
            fused=1.0,
            legs={},
            evidence=("p",),
        )
        return QueryReply(query_id="q", profile="support", milliseconds=Milliseconds(total=1.0), passages=(shown,))


async def test_a_profile_whose_answers_have_no_signals_is_refused() -> None:
    asked = [Question(query_id="q", text="t", gold={"d": 1}, fields={})]
    with pytest.raises(Invalid, match="answers of 'support' have no signals to fit"):
        await labelled(Unsigned(), asked, tenant="t", profile="support")
