"""Running text cut to a limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.cuts import by_lines, by_sentences


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_a_text_within_the_limit_stays_whole() -> None:
    assert by_sentences("One. Two.", target=5, limit=9) == ["One. Two."]


def test_text_is_cut_after_sentences() -> None:
    assert by_sentences("One is first. Two is next. Three ends.", target=20, limit=26) == [
        "One is first. Two is next.",
        "Three ends.",
    ]


def test_a_long_sentence_is_cut_at_a_blank() -> None:
    assert by_sentences("alpha beta gamma", target=10, limit=10) == ["alpha beta", "gamma"]


def test_lines_are_cut_at_their_ends() -> None:
    assert by_lines("a. b\nc. d\ne. f", target=8, limit=9) == ["a. b\nc. d", "e. f"]


def test_chinese_is_cut_after_its_marks() -> None:
    assert by_sentences("检查电源。关闭阀门。", target=5, limit=6) == ["检查电源。", "关闭阀门。"]


def test_a_giant_word_is_cut_anywhere() -> None:
    assert by_sentences("x" * 25, target=10, limit=10) == ["x" * 10, "x" * 10, "x" * 5]


def test_a_number_in_a_line_without_blanks_is_spared() -> None:
    assert by_sentences("阀门编号1234已关闭", target=6, limit=6) == ["阀门编号", "1234已关", "闭"]


def test_marks_stay_with_their_letter() -> None:
    assert all(not piece.startswith("\u0301") for piece in by_sentences("字\u0301" * 20, target=5, limit=5))


@pytest.mark.parametrize("cut", [by_sentences, by_lines])
@given(text=st.text(), limit=st.integers(1, 40))
def test_nothing_is_lost_and_the_limit_holds(cut: object, text: str, limit: int) -> None:
    pieces = cut(text, target=limit, limit=limit)  # type: ignore[operator]
    assert squeezed("".join(pieces)) == squeezed(text) or not text.strip()
    assert all(len(piece) <= limit for piece in pieces)
