"""BM25 as a product of two sparse vectors."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.bm25 import passage_length, passage_vector, query_vector, term_id

REFUND_ID = 1155478322  # the first four bytes of the BLAKE2b hash


def test_a_weight_is_the_term_factor_of_bm25() -> None:
    vector = passage_vector("refund refund plan", "en", 6.0, k1=1.5, b=0.75)
    norm = 1.5 * (1 - 0.75 + 0.75 * 3 / 6.0)
    weights = dict(zip(vector.indices, vector.values, strict=True))
    assert weights == {
        term_id("refund"): pytest.approx(2 * 2.5 / (2 + norm)),
        term_id("plan"): pytest.approx(1 * 2.5 / (1 + norm)),
    }


def test_the_product_with_idf_is_the_whole_score() -> None:
    passages = ["refund of a plan", "plan and seat", "seat and export"]
    frequency = {"refund": 1, "plan": 2}
    idf = {term_id(t): math.log(1 + (3 - n + 0.5) / (n + 0.5)) for t, n in frequency.items()}
    query = query_vector("refund the plan", "en")
    scores = []
    for vector in (passage_vector(passage, "en", 2.0) for passage in passages):
        weights = dict(zip(vector.indices, vector.values, strict=True))
        scores.append(sum(idf[i] * w * weights.get(i, 0.0) for i, w in zip(query.indices, query.values, strict=True)))
    assert scores == pytest.approx([math.log(1 + 2.5 / 1.5) + math.log(1 + 1.5 / 2.5), math.log(1 + 1.5 / 2.5), 0.0])


def test_a_longer_passage_weighs_less() -> None:
    short, long = passage_vector("refund", "en", 10.0), passage_vector("refund " + "seat " * 40, "en", 10.0)
    weights = dict(zip(long.indices, long.values, strict=True))
    assert short.values[0] > weights[term_id("refund")]


def test_a_question_weighs_each_distinct_term_once() -> None:
    assert query_vector("plan plan refund", "en").values == (1.0, 1.0)


def test_a_text_without_words_has_an_empty_vector() -> None:
    assert query_vector("?!", "en").indices == ()
    assert passage_vector("", "en", 100.0).indices == ()


def test_a_term_has_the_same_id_everywhere() -> None:
    assert term_id("refund") == REFUND_ID


def test_only_the_heaviest_terms_are_kept() -> None:
    vector = passage_vector("seat seat plan", "en", 3.0, most_terms=1)
    assert vector.indices == (term_id("seat"),)


def test_what_is_carried_into_a_question_counts_half_and_what_it_says_itself_whole() -> None:
    vector = query_vector("cancel the plan", "en", "annual plans")
    assert dict(zip(vector.indices, vector.values, strict=True)) == {
        term_id("cancel"): 1.0,
        term_id("plan"): 1.0,
        term_id("annual"): 0.5,
    }


def test_length_is_counted_in_tokens() -> None:
    assert passage_length("the VPN-200 of a site", "en") == len(["vpn200", "vpn", "200", "site"])


@given(st.text())
def test_indices_ascend_and_do_not_repeat(text: str) -> None:
    vector = passage_vector(text, "en", 50.0)
    assert list(vector.indices) == sorted(set(vector.indices))
    assert len(vector.indices) == len(vector.values)
