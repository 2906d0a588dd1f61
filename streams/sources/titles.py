"""The title of a text: its first heading, its front matter, or its file's name in words."""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser
from pathlib import PurePosixPath

from schemas.documents import MAX_TITLE

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\r?\n(?P<body>.*?)^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_TITLE_LINE = re.compile(r"^title[ \t]*:[ \t]*(?P<title>\S.*?)[ \t]*$", re.MULTILINE | re.IGNORECASE)
_FENCE = re.compile(r"^ {0,3}(?P<fence>`{3,}|~{3,})")
_HASH = re.compile(r"^ {0,3}#[ \t]+(?P<title>.*?)(?:[ \t]+#+)?[ \t]*$")
_INLINE = re.compile(r"!?\[(?P<text>[^]]*)\]\([^)]*\)|[*`]+")
_LOOK = 20_000  # characters in which a title is looked for


def title_of(text: str, content_type: str, path: PurePosixPath) -> str:
    """Return a title for the text of a file; `path` names it within its source."""
    head = text[:_LOOK]
    found = ""
    if content_type == "text/markdown":
        found = _markdown(head)
    elif content_type == "text/html":
        found = _html(head)
    elif path.suffix == ".rst":
        found = _underlined(head.splitlines())
    return " ".join(found.split())[:MAX_TITLE] or in_words(path)


def in_words(path: PurePosixPath) -> str:
    """Return a file's name as words: `api/rate-limits.md` is `Rate limits`, `api/index.md` is `Api`."""
    stem = path.stem
    if stem.lower() in ("index", "_index", "readme") and path.parent.name:
        stem = path.parent.name
    words = " ".join(re.split(r"[-_\s]+", stem)).strip() or stem
    return words[:1].upper() + words[1:]


def _markdown(text: str) -> str:
    matter = _FRONT_MATTER.match(text)
    body = text[matter.end() :] if matter else text
    lines, fence = [], ""
    for line in body.splitlines():
        found = _FENCE.match(line)
        if fence:
            if found and found["fence"].startswith(fence):
                fence = ""
            continue
        if found:
            fence = found["fence"]
            continue
        if heading := _HASH.match(line):
            return _plain(heading["title"])
        lines.append(line)
    if underlined := _underlined(lines, rule="="):
        return _plain(underlined)
    titled = _TITLE_LINE.search(matter["body"]) if matter else None
    return titled["title"].strip("'\"") if titled else ""


def _underlined(lines: list[str], rule: str = "=-~^*#+") -> str:
    for above, line in itertools.pairwise(lines):
        mark = line.rstrip()
        ruled = len(mark) >= 3 and mark[0] in rule and not mark.strip(mark[0])
        if ruled and any(letter.isalnum() for letter in above):
            return above.strip()
    return ""


def _plain(heading: str) -> str:
    return _INLINE.sub(lambda found: found["text"] or "", heading)


class _Headings(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._in = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("h1", "title") and tag not in self.found:
            self._in = tag
            self.found[tag] = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == self._in:
            self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in:
            self.found[self._in] += data


def _html(text: str) -> str:
    parser = _Headings()
    parser.feed(text)
    return parser.found.get("h1", "").strip() or parser.found.get("title", "")
