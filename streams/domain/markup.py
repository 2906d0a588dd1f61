"""What Markdown holds that is not text: comments, inline data, front matter, and the marks inside a heading."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt

_LONGEST_HEADING = 4_000  # characters that are read for marks

_INLINE = MarkdownIt("commonmark")
_REFERENCE = re.compile(r"\[([^\[\]]+)\]\[[^\[\]]*\]")
_ATTRIBUTES = re.compile(r"\s*\{[#.:][^{}]*\}\s*$")

_DATA = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w=.-]+)*;base64,[A-Za-z0-9+/=_%-]{64,}")
_LINK_TO_DATA = re.compile(r"!?\[([^\[\]\n]*)\]\(\s*<?(?:data:[^()\[\]\s<>\"]*)?>?\s*\)")
_DEFINITION_OF_DATA = re.compile(r"^ {0,3}\[[^\[\]\n]+\]:[ \t]*<?(?:data:\S*)?>?[ \t]*$", re.MULTILINE)
_COMMENT_MARKS = re.compile(r"`+|<!--|-->")
_BLANK_LINES = re.compile(r"\n[ \t]*(?=\n)")

_FRONT_MATTER_LINE = re.compile(r"[\w.\"'-][^:\n]*:(?:\s|$)|\s|[-#\]}]")
_FRONT_MATTER_FIELD = re.compile(r"(?P<name>title|description)\s*:\s*(?P<value>.+?)\s*$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class FrontMatter:
    """What the block in front of a page says of it."""

    title: str = ""
    description: str = ""


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """Return the front matter and the page behind it; only a block on the very first line counts.

    A block that does not read like YAML is a rule and ordinary text, and stays.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return FrontMatter(), text
    end = next((number for number, line in enumerate(lines) if number and line.rstrip() in {"---", "..."}), None)
    if end is None or not all(_FRONT_MATTER_LINE.match(line) for line in lines[1:end] if line):
        return FrontMatter(), text
    fields = {
        found["name"].lower(): _unquoted(found["value"])
        for line in lines[1:end]
        if (found := _FRONT_MATTER_FIELD.match(line))
    }
    return FrontMatter(**fields), "\n".join(lines[end + 1 :])


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return "" if value in {"|", ">", "|-", ">-"} else value


def without_data(text: str) -> str:
    """Drop base64 data URIs, wherever they stand; what links to them stays."""
    return _DATA.sub("", text) if "base64," in text else text


def without_noise(text: str) -> str:
    """Drop comments, and links and images that carry data or lead nowhere; their words stay. Not for code."""
    if "<!--" in text:
        text = _without_comments(text)
    if "](" in text:
        text = _LINK_TO_DATA.sub(r"\1", text)
    if "]:" in text:
        text = _DEFINITION_OF_DATA.sub("", text)
    return _BLANK_LINES.sub("", text).strip("\n")


def _without_comments(text: str) -> str:
    """Drop HTML comments outside of code spans; one that is never closed is text."""
    marks = list(_COMMENT_MARKS.finditer(text))
    last = {mark[0]: mark.start() for mark in marks}
    kept: list[str] = []
    position, opened = 0, ""
    for mark in marks:
        if opened == "<!--":
            if mark[0] == "-->":
                opened, position = "", mark.end()
        elif opened:
            opened = "" if mark[0] == opened else opened
        elif mark[0] == "<!--" and last.get("-->", -1) > mark.start():
            kept.append(text[position : mark.start()])
            opened = "<!--"
        elif mark[0][0] == "`" and last[mark[0]] > mark.start():
            opened = mark[0]
    return "".join(kept) + text[position:]


def plain(heading: str) -> str:
    """Return a heading's words: links and images reduced to their text, code and emphasis to their content."""
    words: list[str] = []
    for token in _INLINE.parseInline(heading[:_LONGEST_HEADING])[0].children or ():
        if token.type in {"text", "text_special", "code_inline", "image"}:
            words.append(token.content)
        elif token.type in {"softbreak", "hardbreak"}:
            words.append(" ")
    text = _REFERENCE.sub(r"\1", "".join(words)) + heading[_LONGEST_HEADING:]
    return " ".join(_ATTRIBUTES.sub("", text).split())
