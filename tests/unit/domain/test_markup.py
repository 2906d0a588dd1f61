"""What Markdown holds that is not text."""

import time

import pytest

from streams.domain.markup import FrontMatter, plain, split_front_matter, without_data, without_noise


def test_front_matter_is_read_and_taken_away() -> None:
    text = "---\ntitle: 'Water meters'\ndescription: How they are read\ntags:\n  - water\n---\nText"
    assert split_front_matter(text) == (FrontMatter(title="Water meters", description="How they are read"), "Text")


@pytest.mark.parametrize(
    "text", ["---\nOnce upon a time\n---\nText", "---\nopen: end", "\n---\ntitle: x\n---\n", "--- a\nb: c\n---\n"]
)
def test_what_is_no_front_matter_stays(text: str) -> None:
    assert split_front_matter(text) == (FrontMatter(), text)


def test_comments_go_outside_of_code() -> None:
    assert without_noise("a <!-- x\ny --> b `<!-- code -->` c <!-- open") == "a  b `<!-- code -->` c <!-- open"


def test_images_and_links_that_carry_data_keep_their_words() -> None:
    data = "data:image/png;base64," + "QUJD" * 40
    assert without_noise(without_data(f"![the hook]({data}) and [it]({data}) and [a](https://b.example)")) == (
        "the hook and it and [a](https://b.example)"
    )


def test_a_definition_of_a_picture_goes() -> None:
    assert without_noise(without_data(f"text\n\n[pic]: <data:image/png;base64,{'QUJD' * 40}>")) == "text"


def test_a_heading_is_its_words() -> None:
    assert plain("The *new* [`orbit`](https://a.example) ![logo](l.png) &amp; [more][ref] <b>x</b> {#id}") == (
        "The new orbit logo & more x"
    )


@pytest.mark.parametrize("text", ["`", "``a`", "<!-- ", "[a](data:", "[", "data:a/b;base64,", "[x]:\n"])
def test_no_text_takes_more_than_linear_time(text: str) -> None:
    started = time.perf_counter()
    without_noise(without_data(text * 100_000))
    assert time.perf_counter() - started < 5
