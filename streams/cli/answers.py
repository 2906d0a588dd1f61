"""A reply as a person wants to read it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import click

from schemas.replies import Dropped, ErrorInfo, LegReport, LegScore, Passage, QueryReply
from streams.cli.console import printable

LINES = 4  # of text a passage
DROPPED = 10  # candidates shown that did not make it


def render(question: str, reply: QueryReply, *, width: int, explain: bool = False) -> str:
    """Return the answer: its passages, which legs found them, and how the search ran."""
    return "\n".join(_lines(question, reply, width, explain))


def error_line(error: ErrorInfo) -> str:
    """Return an error as `field: message`, or as `class: message` where it has no field."""
    return printable(f"{error.field or error.error_class}: {error.message}")


def _lines(question: str, reply: QueryReply, width: int, explain: bool) -> Iterator[str]:
    yield click.style(printable(question), bold=True)
    if reply.error is not None:
        yield f"  {error_line(reply.error)}"
        return
    count = len(reply.passages)
    found = f"{count or 'no'} passage{'' if count == 1 else 's'} in {reply.milliseconds.total:.0f} ms"
    yield click.style(f"{found} · profile {reply.profile} · generation {reply.generation}{_how(reply)}", dim=True)
    if reply.rewritten is not None:
        yield click.style(f"searched as: {printable(reply.rewritten)}", dim=True)
    for passage in reply.pinned:
        yield ""
        yield from _passage(passage, width, explain, label="pinned")
    for passage in reply.passages:
        yield ""
        yield from _passage(passage, width, explain)
    if reply.summary is not None:
        yield ""
        yield from (click.style(f"    {printable(line)}", dim=True) for line in reply.summary.text.splitlines())
    yield ""
    yield from _run(reply, explain)
    if explain:
        yield from (_dropped(dropped) for dropped in reply.dropped[:DROPPED])
        if len(reply.dropped) > DROPPED:
            yield click.style(f"… and {len(reply.dropped) - DROPPED} more were dropped; --json has them", dim=True)


def _how(reply: QueryReply) -> str:
    model = reply.models.reranker
    reranked = f" · reranked by {printable(model)}" if model else "" if reply.final else " · not reranked yet"
    return reranked + (" · from the cache" if reply.cache == "hit" else "")


def _passage(passage: Passage, width: int, explain: bool, label: str | None = None) -> Iterator[str]:
    path = passage.heading_path
    if path and path[0] == passage.title:
        path = path[1:]
    where = " › ".join(part for part in (passage.title or passage.doc_id, *path) if part)
    place = label or f"{passage.rank:>2}  {passage.score:.4f}"
    yield f"{place:<10}  {click.style(printable(where), bold=True)}"
    mark = " · external" if passage.trust == "external" else ""
    kind = "Q&A " if passage.kind == "qa" else ""
    origin = "from the graph" if passage.kind == "graph" else printable(f"{passage.source}/{passage.doc_id}")
    yield click.style(f"            {kind}{origin}{mark}", fg="cyan")
    if passage.legs:
        yield click.style(f"            found by {_legs(passage.legs, explain)}", dim=True)
    if explain and passage.legs:
        yield click.style(f"            {_arithmetic(passage)}", dim=True)
    text = " ".join(_body(passage).split())
    yield from textwrap.wrap(
        printable(text),
        width=width,
        max_lines=LINES,
        placeholder=" …",
        initial_indent=" " * 12,
        subsequent_indent=" " * 12,
        break_on_hyphens=False,
    )


def _body(passage: Passage) -> str:
    """Return the text without the heading path in front, which was just written."""
    head, blank, body = passage.text.partition("\n\n")
    return body if blank and head == " > ".join(passage.heading_path) else passage.text


def _legs(legs: dict[str, LegScore], explain: bool) -> str:
    ranked = sorted(legs.items(), key=lambda item: (item[1].rank, item[0]))
    return ", ".join(f"{leg} #{score.rank}" + (f" ({score.score:.4f})" if explain else "") for leg, score in ranked)


def _arithmetic(passage: Passage) -> str:
    parts = {name: getattr(passage, name) for name in ("fused", "coverage", "absolute", "boost", "rerank")}
    return " · ".join(f"{name} {value:.4f}" for name, value in parts.items() if value is not None)


def _run(reply: QueryReply, explain: bool) -> Iterator[str]:
    if reply.legs:
        yield click.style(f"legs: {' · '.join(_leg(names, leg) for names, leg in _alike(reply))}", dim=True)
    if explain:
        times = {name: getattr(reply.milliseconds, name) for name in ("prepare", "legs", "fuse")}
        spent = " · ".join(f"{name} {value:.1f} ms" for name, value in times.items() if value is not None)
        yield click.style(f"time: {spent}; models: {reply.models.embedder}, {reply.models.reranker}", dim=True)
    if reply.degraded:
        yield click.style(f"degraded: {printable('; '.join(reply.reasons))}", fg="yellow")
    if reply.stale:
        yield click.style(f"stale: {reply.stale_versions} versions behind what was asked for", fg="yellow")


def _alike(reply: QueryReply) -> list[tuple[str, LegReport]]:
    """Return the legs with their reports; those that were skipped for one reason stand together."""
    found: dict[object, tuple[list[str], LegReport]] = {}
    for name, leg in reply.legs.items():
        found.setdefault(leg if leg.status == "skipped" else name, ([], leg))[0].append(name)
    return [(", ".join(names), leg) for names, leg in found.values()]


def _leg(name: str, leg: LegReport) -> str:
    took = f" {leg.milliseconds:.1f} ms" if leg.milliseconds is not None else ""
    found = f", {leg.candidates} {'read' if name == 'rerank' else 'found'}" if leg.status == "ok" else ""
    found += f", {leg.shortened} of them not whole" if leg.shortened else ""
    why = f" ({printable(leg.reason)})" if leg.reason else ""
    return f"{name} {leg.status}{took}{found}{why}"


def _dropped(dropped: Dropped) -> str:
    return click.style(f"dropped {dropped.passage_id}: {dropped.rule}; {_legs(dropped.legs, True)}", dim=True)
