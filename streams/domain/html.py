"""HTML to Markdown, in one pass without a tree: no nesting is too deep, no markup too broken."""

from __future__ import annotations

import html as entities
import re
from collections import Counter
from dataclasses import dataclass, field

from streams.domain.tags import attribute, pieces

_BLANKS = re.compile(r"[ \t\n\r\f\xa0]+")
_LOOKS_LIKE_MARKUP = re.compile(r"\A(?=#{1,6}(?:\s|$)|`{3}|~{3}|(?:[-=*_]\s*)+$|[|:-]+[|:\s-]*$|[-+*]\s|\d+[.)]\s|>)")
_LANGUAGE = re.compile(r"\b(?:language|lang|highlight-source)-([\w+#-]+)")

_DROPPED = frozenset({"audio", "canvas", "math", "nav", "noscript", "object", "select", "svg", "template", "video"})
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div",
        "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head",
        "header", "hgroup", "hr", "html", "legend", "li", "main", "menu", "ol", "p", "pre", "section", "summary",
        "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul",
    }
)  # fmt: skip
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"}
)
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_DEEPEST = 8  # lists and quotes that are shown one in another; deeper ones continue the last level


def to_markdown(html: str) -> str:
    """Return the text of an HTML page as Markdown: headings, paragraphs, lists, quotes, tables and code.

    Scripts, styles, navigation and embedded things are dropped; an image is its alternative text. Never raises; the
    time is linear in the text.
    """
    page = _Page()
    for piece in pieces(html):
        if isinstance(piece, str):
            page.text(piece)
        elif piece["close"]:
            page.end_tag(piece["name"].lower())
        else:
            page.start_tag(piece["name"].lower(), piece["attributes"])
    page.finish()
    return "\n".join(page.lines).strip("\n") + "\n" if page.lines else ""


@dataclass(kw_only=True)
class _Container:
    """A list item or a quote around the text."""

    marker: str  # written before its first line
    rest: str  # written before the others
    begun: bool = False


@dataclass(kw_only=True)
class _Table:
    rows: list[list[str]] = field(default_factory=list)
    span: int = 1  # columns of the open cell


@dataclass
class _Page:
    """The Markdown written so far, and what is open."""

    lines: list[str] = field(default_factory=list)
    inline: list[str] = field(default_factory=list)
    open_tags: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    dropped_from: int = -1  # depth of the element whose content is dropped
    containers: list[_Container] = field(default_factory=list)
    lists: list[int] = field(default_factory=list)  # the next number of each open list; 0 for bullets
    table: _Table | None = None
    tables: int = 0  # open, one in another; only the outermost is shown as one
    heading: str = ""
    pre: list[str] | None = None
    language: str = ""
    code: int = -1  # where the open code span starts in `inline`
    link: tuple[int, str] | None = None
    tight: bool = False  # the line before is a list item

    def finish(self) -> None:
        """Close what is still open."""
        while self.open_tags:
            self.end_tag(self.open_tags[-1])
        self.end_block()
        self.end_table()

    def text(self, raw: str) -> None:
        if self.dropped_from >= 0:
            return
        text = entities.unescape(raw)
        if self.pre is not None:
            self.pre.append(text)
        else:
            self.inline.append(_BLANKS.sub(" ", text))

    def start_tag(self, name: str, attributes: str) -> None:
        if name not in _VOID:
            self.open_tags.append(name)
            self.counts[name] += 1
        if self.dropped_from >= 0:
            return
        if name in _DROPPED:
            self.dropped_from = len(self.open_tags) - 1
        elif self.pre is not None:
            if name == "br":
                self.pre.append("\n")
            elif name == "code" and (found := _LANGUAGE.search(attributes)):
                self.language = found[1]
        elif name in _BLOCKS:
            self._open_block(name, attributes)
        elif name == "br":
            self.inline.append("\n")
        elif name == "img":
            self.inline.append(_BLANKS.sub(" ", attribute(attributes, "alt")))
        elif name in {"code", "kbd", "samp", "tt"} and self.code < 0:
            self.code = len(self.inline)
        elif name == "a":
            self.link = (len(self.inline), attribute(attributes, "href"))

    def end_tag(self, name: str) -> None:
        if not self.counts[name]:
            return
        while self.open_tags:
            last = self.open_tags.pop()
            self.counts[last] -= 1
            if self.dropped_from >= 0:
                self.dropped_from = -1 if len(self.open_tags) <= self.dropped_from else self.dropped_from
            else:
                self._close_one(last)
            if last == name:
                break

    def _open_block(self, name: str, attributes: str) -> None:
        if self.tables and name not in {"table", "tr", "td", "th", "pre", "caption"}:
            self.inline.append(" ")  # a cell is one line
            return
        if name in {"td", "th"} and self.table:
            self._end_cell()
            self.table.span = min(int(span), 50) if (span := attribute(attributes, "colspan")).isdecimal() else 1
            self.table.rows = self.table.rows or [[]]
            self.table.rows[-1].append("")
            return
        if name == "tr" and self.table:
            self._end_cell()
            self.table.rows.append([])
            return
        if name == "table":
            self.tables += 1
            if self.tables > 1:
                self.inline.append(" ")
                return
        self.end_block()
        if name == "table":
            self.table = _Table()
        elif name in _HEADINGS:
            self.heading = _HEADINGS[name]
        elif name == "pre":
            self.pre = []
            self.language = found[1] if (found := _LANGUAGE.search(attributes)) else ""
        elif name in {"ul", "ol", "menu"}:
            self.lists.append(1 if name == "ol" else 0)
        elif name == "li":
            self._open_item()
        elif name == "blockquote" and len(self.containers) < _DEEPEST:
            self.containers.append(_Container(marker="> ", rest="> "))

    def _open_item(self) -> None:
        depth = max(1, len(self.lists))
        while len([c for c in self.containers if c.rest != "> "]) >= min(depth, _DEEPEST):
            self.containers.pop()  # an item that was never closed
        number = self.lists[-1] if self.lists else 0
        if number:
            self.lists[-1] += 1
        marker = f"{number}. " if number else "- "
        self.containers.append(_Container(marker=marker, rest=" " * len(marker)))

    def _close_one(self, name: str) -> None:
        if self.pre is not None:
            if name == "pre":
                self._end_pre()
        elif name == "table":
            self.tables = max(0, self.tables - 1)
            if not self.tables:
                self.end_table()
        elif name == "caption" and self.table and not self.table.rows:
            self.end_block()
        elif self.tables:
            self.inline.append(" " if name in _BLOCKS else "")
            self._close_inline(name)
        elif name in _BLOCKS:
            self.end_block()
            if name in {"ul", "ol", "menu"} and self.lists:
                self.lists.pop()
                self.tight = self.tight and bool(self.lists)
            elif name in {"li", "blockquote"} and self.containers and self._is_quote() == (name == "blockquote"):
                self.containers.pop()
        else:
            self._close_inline(name)

    def _is_quote(self) -> bool:
        return self.containers[-1].rest == "> "

    def _close_inline(self, name: str) -> None:
        if name in {"code", "kbd", "samp", "tt"} and self.code >= 0:
            content = "".join(self.inline[self.code :]).strip()
            del self.inline[self.code :]
            code = f"`` {content} ``" if "`" in content else f"`{content}`"
            self.inline.append(code if content else "")
            self.code = -1
        elif name == "a" and self.link:
            start, target = self.link
            content = "".join(self.inline[start:]).strip()
            if content and len(target) <= 300 and target.startswith(("https://", "http://", "mailto:", "/")):
                before = " " if self.inline[start:] and "".join(self.inline[start:])[:1].isspace() else ""
                del self.inline[start:]
                self.inline.append(f"{before}[{content}]({target})")
            self.link = None

    def end_block(self) -> None:
        """Write the open paragraph or heading."""
        content = "".join(self.inline)
        self.inline.clear()
        self.code, self.link = -1, None
        lines = [line for part in content.split("\n") if (line := _BLANKS.sub(" ", part).strip())]
        if self.heading and lines and not self.containers:
            self._write([f"{self.heading} {' '.join(lines)}"])
        elif lines:
            self._write([_LOOKS_LIKE_MARKUP.sub("\\\\", line, count=1).replace("<!--", "<\\!--") for line in lines])
        if lines or not content:
            self.heading = self.heading if not lines else ""

    def _end_pre(self) -> None:
        code = "".join(self.pre or ()).expandtabs(4).strip("\n").rstrip()
        self.pre = None
        if self.tables:
            self.inline.append(f" `{_BLANKS.sub(' ', code)}` " if code.strip() else " ")
        elif code.strip():
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", code)), default=0))
            self._write([f"{fence}{self.language}", *code.split("\n"), fence])

    def _end_cell(self) -> None:
        content = _BLANKS.sub(" ", "".join(self.inline)).strip().replace("|", "\\|")
        self.inline.clear()
        self.code, self.link = -1, None
        if self.table and content:
            row = self.table.rows[-1] if self.table.rows else []
            if not row:
                row.append("")
                self.table.rows = self.table.rows or [row]
            row[-1] = f"{row[-1]} {content}".strip()
        if self.table and self.table.rows and self.table.span > 1:
            self.table.rows[-1].extend([""] * (self.table.span - 1))
            self.table.span = 1

    def end_table(self) -> None:
        """Write the open table."""
        if self.table is None:
            return
        self._end_cell()
        rows = [row for row in self.table.rows if any(row)]
        self.table = None
        columns = max((len(row) for row in rows), default=0)
        if columns == 1:
            for row in rows:
                self._write([row[0].replace("\\|", "|")])
        elif rows:
            header, *body = ([*row, *[""] * (columns - len(row))] if row is rows[0] else row for row in rows)
            self._write([_row(header), "|" + "---|" * columns, *map(_row, body)])

    def _write(self, lines: list[str]) -> None:
        """Write the lines of a block behind the marks of the lists and quotes around it."""
        item = bool(self.containers) and not self.containers[-1].begun and self.containers[-1].rest != "> "
        if self.lines and not (item and self.tight):
            self.lines.append("".join(container.rest for container in self.containers if container.begun).rstrip())
        for line in lines:
            prefix = "".join(c.rest if c.begun else c.marker for c in self.containers)
            self.lines.append(f"{prefix}{line}".rstrip())
            for container in self.containers:
                container.begun = True
        self.tight = item


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
