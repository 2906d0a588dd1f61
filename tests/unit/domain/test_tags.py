"""HTML cut into tags and texts."""

import re
import time

import pytest

from streams.domain.tags import attribute, pieces


def cut(html: str) -> list[str]:
    return [piece if isinstance(piece, str) else f"{piece['close']}{piece['name']}" for piece in pieces(html) if piece]


def test_tags_and_texts_come_in_order() -> None:
    assert cut("a<b class='x'>c</b><br/>d") == ["a", "b", "c", "/b", "br", "d"]


def test_comments_declarations_and_scripts_are_left_out() -> None:
    assert cut("<!doctype html><!-- <p> --><?php x ?><script>a<b</SCRIPT >z<style>") == ["z"]


def test_a_lone_angle_is_text() -> None:
    assert "".join(cut("1 < 2 and <3")) == "1 < 2 and <3"


def test_a_quoted_value_may_hold_an_angle() -> None:
    assert cut('<a title="x > y">t') == ["a", "t"]


def test_attributes_are_read_in_any_quotes() -> None:
    tag = next(piece for piece in pieces("<a HREF=\"x&amp;y\" b='z' c=w>") if isinstance(piece, re.Match))
    assert [attribute(tag["attributes"], name) for name in ("href", "b", "c", "d")] == ["x&y", "z", "w", ""]


@pytest.mark.parametrize(
    "text", ["<", "<!--", "<a ", "<![", "</", "<a href='", '<a b="', "<script>", "<a b=", "<a '\""]
)
def test_no_text_takes_more_than_linear_time(text: str) -> None:
    started = time.perf_counter()
    for _ in pieces(text * 50_000):
        pass
    assert time.perf_counter() - started < 5
