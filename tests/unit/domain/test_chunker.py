"""Chunkers: the sizes that an operator gives, as one string of a generation."""

from __future__ import annotations

import pytest

from streams.domain import chunker
from streams.domain.chunking import CHUNKER, Limits
from streams.errors import Invalid


def test_sizes_are_read_back_as_they_were_given_in_one_order() -> None:
    name = chunker.named("child_target=450, child_max=600")
    assert name == f"{CHUNKER}:child_max=600,child_target=450"
    assert chunker.limits(name) == Limits(child_max=600, child_target=450)


@pytest.mark.parametrize("text", ["", " , ", "child_max=900", "child_max=900,document_max=900"])
def test_the_releases_own_sizes_have_no_part_in_the_name(text: str) -> None:
    assert chunker.named(text) == CHUNKER
    assert chunker.limits(CHUNKER) == chunker.limits("") == Limits()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("size=3", "chunker: there is no size 'size'; there are parent_max, "),
        ("child_max", "chunker: child_max is ''; it must be 50 to 20000 characters"),
        ("child_max=²", "chunker: child_max is '²'"),
        ("child_max=20001", "chunker: child_max is '20001'"),
        ("child_max=600,child_max=700", "chunker: child_max is given twice"),
        ("child_max=600", "chunker: child_target is 650, above child_max, 600; give both"),
    ],
)
def test_a_size_that_cannot_be_is_refused_by_name(text: str, says: str) -> None:
    with pytest.raises(Invalid) as refused:
        chunker.named(text)
    assert str(refused.value).startswith(says)
