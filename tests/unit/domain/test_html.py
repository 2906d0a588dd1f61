"""HTML to Markdown."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.domain.html import to_markdown


def test_headings_paragraphs_and_entities() -> None:
    html = "<h1>Allow&nbsp;list</h1><p>Only <b>these</b>\n ranges &amp; 1 &lt; 2<br>next</p><h3>Ports</h3>open"
    assert to_markdown(html) == "# Allow list\n\nOnly these ranges & 1 < 2\nnext\n\n### Ports\n\nopen\n"


def test_scripts_styles_navigation_and_heads_are_dropped() -> None:
    html = "<head><title>T</title><style>p{}</style></head><nav><ul><li>Home</ul></nav><script>x</script><p>text</p>"
    assert to_markdown(html) == "text\n"


def test_lists_nest_and_count() -> None:
    html = "<ul><li>one<ul><li>deep</ul></li><li><p>two</p><p>more</p></ul><ol><li>a<li>b</ol>"
    assert to_markdown(html) == "- one\n  - deep\n- two\n\n  more\n\n1. a\n2. b\n"


def test_a_table_keeps_its_header_row_and_its_columns() -> None:
    html = (
        "<table><caption>Sizes</caption><thead><tr><th>site<th>limit</tr></thead>"
        "<tr><td>a|b</td><td><p>1</p><p>2</p></td></tr><tr><td colspan=2>all</td></tr></table>"
    )
    assert to_markdown(html) == "Sizes\n\n| site | limit |\n|---|---|\n| a\\|b | 1 2 |\n| all |  |\n"


def test_code_stays_as_it_is_written() -> None:
    html = '<pre><code class="language-sh"># run\nx  --y &lt;z&gt;\n</code></pre><p>use <code>a  b</code></p>'
    assert to_markdown(html) == "```sh\n# run\nx  --y <z>\n```\n\nuse `a b`\n"


def test_a_fence_is_longer_than_those_in_the_code() -> None:
    assert to_markdown("<pre>```\nx\n```</pre>") == "````\n```\nx\n```\n````\n"


def test_links_keep_their_address_and_images_their_words() -> None:
    links = '<a href="https://a.example/b">the page</a> <a href="javascript:x">here</a>'
    assert (
        to_markdown(f'<p>See {links} <img src="data:x" alt="a hook"></p>')
        == "See [the page](https://a.example/b) here a hook\n"
    )


def test_quotes_are_quoted() -> None:
    assert to_markdown("<p>a</p><blockquote><p>b</p><p>c</p></blockquote>d") == "a\n\n> b\n>\n> c\n\nd\n"


@pytest.mark.parametrize("text", ["# x", "```", "---", "===", "|---|", "- x", "1. x", "> x"])
def test_text_that_looks_like_markdown_stays_text(text: str) -> None:
    assert to_markdown(f"<p>{text}</p>") == f"\\{text}\n"


def test_comments_written_as_text_stay() -> None:
    assert to_markdown("<p>&lt;!-- x --&gt;</p>") == "<\\!-- x -->\n"


@pytest.mark.parametrize("tag", ["div", "ul", "li", "blockquote", "table", "td", "span", "pre", "b", "nav"])
def test_deep_nesting_kills_nothing(tag: str) -> None:
    started = time.perf_counter()
    html = f"<{tag}>" * 10_000 + "deep" + f"</{tag}>" * 10_000 + "<p>after</p>"
    assert "after" in to_markdown(html)
    assert time.perf_counter() - started < 5


TAGS = ("<{}>", "</{}>")
NAMES = ("p", "li", "table", "tr", "td", "pre", "code", "h2", "ul", "blockquote", "caption", "b")
PARTS = [tag.format(name) for tag in TAGS for name in NAMES] + ["<a href='/x'>", "</a>", "<br>", "<", "&", "word", " "]


@given(st.lists(st.sampled_from(PARTS)))
def test_broken_markup_loses_no_word(parts: list[str]) -> None:
    assert to_markdown("".join(parts)).count("word") == parts.count("word")


@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    to_markdown(text)
