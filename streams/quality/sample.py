"""Writes drawn questions as a labelled set whose judgements are still to be filled in.

queries.jsonl has a question a line, as `rankstream evaluate` reads it, with what it was answered beside; qrels.tsv a
line for each document of each answer, its grade empty. The documents themselves, corpus.jsonl, come from their source.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from schemas.query_log import LoggedQuestion, LoggedReply
from streams.errors import ConfigurationError
from streams.gateways.query_log import Drawn
from streams.quality.dataset import QRELS, QUERIES

HEADER = "query-id\tdoc-id\tgrade"


def write(drawn: Drawn, folder: Path) -> None:
    """Write both files into a folder that has neither; raise ConfigurationError where that cannot be."""
    for name in (QUERIES, QRELS):
        if (folder / name).exists():
            raise ConfigurationError(f"--out: {folder / name} is there already; name a new folder")
    several = len({question.tenant for question in drawn.questions}) > 1
    queries, judgements = [], [HEADER]
    for question in drawn.questions:
        reply = drawn.replies.get((question.tenant, question.query_id))
        name = f"{question.tenant}/{question.query_id}" if several else question.query_id
        queries.append(msgspec.json.encode(_line(name, question, reply)).decode())
        found = dict.fromkeys(passage.doc_id for passage in reply.passages) if reply else {}
        judgements += [f"{name}\t{doc_id}\t" for doc_id in found]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, lines in ((QUERIES, queries), (QRELS, judgements)):
            (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"--out: {folder} cannot be written ({type(error).__name__})") from error


def _line(name: str, question: LoggedQuestion, reply: LoggedReply | None) -> dict[str, Any]:
    line: dict[str, Any] = {"id": name, "text": question.text}
    if question.language:
        line["language"] = question.language
    if question.history:
        line["history"] = question.history
    line |= {"tenant": question.tenant, "agent": question.agent, "profile": question.profile, "at": question.at}
    if question.filters != type(question.filters)():
        line["filters"] = question.filters
    line["answered"] = None
    if reply is not None:
        fields = ("generation", "cache", "degraded", "reasons", "milliseconds", "legs", "error")
        line["answered"] = {field: getattr(reply, field) for field in fields} | {
            "passages": [
                {"rank": each.rank, "source": each.source, "doc_id": each.doc_id, "version": each.version}
                | {"score": each.score, "passage_id": each.passage_id}
                for each in reply.passages
            ]
        }
    return line
