"""Documents to sections: the headings that lead to a text, and the blocks under the last of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from streams.domain.blocks import Block, BlockKind
from streams.domain.markup import plain, without_data, without_noise

# Inline marks are read in headings only. Link definitions stay text: reading a long run of them takes quadratic time.
_MARKDOWN = MarkdownIt("commonmark").enable("table").disable(["inline", "reference"])
_CONTAINERS = {"bullet_list", "ordered_list", "list_item", "blockquote"}
_KINDS: Mapping[str, BlockKind] = {"fence": "fence", "code_block": "lines", "html_block": "lines", "table": "table"}
_LINK_DEFINITION = re.compile(r"\[[^\[\]]+\]:")


@dataclass(frozen=True, kw_only=True)
class Section:
    """The text between a heading and the next one, of any level."""

    headings: tuple[str, ...]  # in plain words, from the outermost; empty before the first heading
    blocks: tuple[Block, ...]


@dataclass(kw_only=True)
class _Node:
    kind: str
    start: int  # line
    end: int  # the line after
    token: Token
    heading: str = ""
    children: list[_Node] = field(default_factory=list)


def of_plain_text(text: str) -> list[Section]:
    """Return a text's paragraphs as one section; nothing in it is markup."""
    paragraphs = (part.strip("\n").rstrip() for part in re.split(r"\n[ \t]*(?:\n[ \t]*)+", text))
    return [Section(headings=(), blocks=tuple(Block(kind="text", text=part) for part in paragraphs if part.strip()))]


def of_markdown(text: str) -> list[Section]:
    """Return the sections of a CommonMark page with tables, in reading order, those without text included.

    A heading ends every open heading of its own or a deeper level, whatever levels were skipped. Headings in lists
    and quotes open no section. Blocks are source lines as they stand, without rules, comments and inline data.
    """
    text = without_data(text)
    lines = text.split("\n")
    sections: list[Section] = []
    stack: list[tuple[int, str]] = []
    pending: list[_Node] = []
    start = 0

    def close(end: int) -> None:
        headings = tuple(heading for _, heading in stack)
        sections.append(Section(headings=headings, blocks=_blocks(pending, lines, start, end)))
        pending.clear()

    before: _Node | None = None
    for node in _nodes(_MARKDOWN.parse(text)):
        if node.kind == "heading" and _is_heading(node, before):
            close(node.start)
            level = int(node.token.tag[1])
            while stack and stack[-1][0] >= level:
                stack.pop()
            if heading := plain(node.heading):
                stack.append((level, heading))
            start = node.end
        else:
            pending.append(node)
        before = node
    close(len(lines))
    return sections


def _is_heading(node: _Node, before: _Node | None) -> bool:
    """Is it a heading in the eyes of its writer?

    CommonMark takes metadata between two rules in the middle of a page for a rule and an underlined heading, and link
    definitions above a rule for an underlined heading.
    """
    if node.token.markup != "-":
        return True
    below_rule = before is not None and before.kind == "hr" and before.end == node.start
    return not below_rule and not _LINK_DEFINITION.match(node.heading)


def _nodes(tokens: Sequence[Token]) -> list[_Node]:
    """Return the top-level blocks as trees of lists, items and quotes; what is in other blocks is left out."""
    top: list[_Node] = []
    stack: list[_Node] = []
    skipping: str = ""
    for token in tokens:
        kind = token.type.removesuffix("_open").removesuffix("_close")
        if skipping:
            if token.type == "inline" and skipping == "heading" and not stack:
                top[-1].heading = token.content
            skipping = "" if token.nesting == -1 and kind == skipping else skipping
        elif token.nesting == -1:
            stack.pop()
        elif token.map is not None:
            node = _Node(kind=kind, start=token.map[0], end=token.map[1], token=token)
            (stack[-1].children if stack else top).append(node)
            if token.nesting == 1 and kind in _CONTAINERS:
                stack.append(node)
            elif token.nesting == 1:
                skipping = kind
    return top


def _blocks(nodes: Sequence[_Node], lines: Sequence[str], start: int, end: int) -> tuple[Block, ...]:
    """Return blocks for all lines from `start` to `end`, those that no node covers as text."""
    blocks: list[Block] = []
    last = start  # the line after the last text
    for node in [*nodes, None]:
        first = node.start if node else end
        if stray := "\n".join(lines[start:first]).strip("\n"):
            blocks += _placed(_text("text", stray), last, start, lines)
            last = first
        if node is None:
            break
        blocks += _placed(_block(node, lines), last, node.start, lines)
        start = last = max(start, node.end)
    return tuple(blocks)


def _placed(block: Block | None, last: int, start: int, lines: Sequence[str]) -> list[Block]:
    """Give a block its distance: an empty line, if there is one in the source, else a line end."""
    if block is None:
        return []
    near = last == start and start > 0 and bool(lines[start - 1].strip())
    return [replace(block, lead="\n" if near else "\n\n")]


def _block(node: _Node, lines: Sequence[str]) -> Block | None:
    source = "\n".join(lines[node.start : node.end]).rstrip().strip("\n")
    if node.kind in _CONTAINERS:
        children = _blocks(node.children, lines, node.start, node.end)
        source = "".join(f"{child.lead if number else ''}{child.text}" for number, child in enumerate(children))
        return Block(kind="group", text=source, children=children) if source else None
    if node.kind in {"fence", "code_block"}:
        return Block(kind=_KINDS[node.kind], text=source)
    if node.kind == "hr":
        return None
    if node.kind == "heading" and node.token.markup in {"-", "="}:
        source = source.rpartition("\n")[0]  # metadata between two rules: the second is its underline
    return _text(_KINDS.get(node.kind, "text"), source)


def _text(kind: BlockKind, source: str) -> Block | None:
    text = without_noise(source)
    return Block(kind=kind, text=text) if text.strip() else None
