"""`rankstream ask` and the revisions of an answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, Self

import pytest
from click.testing import CliRunner

from schemas.replies import ErrorInfo, Milliseconds, Models, QueryReply, error_reply
from streams.cli import ask, connect
from streams.errors import ConfigurationError

FIRST = QueryReply(query_id="q", revision=1, final=False, milliseconds=Milliseconds(total=20.0), profile="kb")
LAST = QueryReply(
    query_id="q", revision=2, milliseconds=Milliseconds(total=400.0), profile="kb", models=Models(reranker="bge")
)
FAILED = error_reply("q", ErrorInfo(error_class="no reply", message="no reply came by the deadline"))


class Client:
    """A client that has these revisions."""

    def __init__(self, *revisions: QueryReply) -> None:
        self._revisions = revisions

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Nothing is open."""

    async def ask_stream(self, question: str, **fields: Any) -> AsyncIterator[QueryReply]:
        assert "progressive" not in fields
        for revision in self._revisions:
            yield revision


def run(monkeypatch: pytest.MonkeyPatch, revisions: tuple[QueryReply, ...], *options: str) -> Any:
    monkeypatch.setattr(connect, "client", lambda _: Client(*revisions))
    return CliRunner().invoke(ask.command, ["Which port?", "--tenant", "acme", *options], standalone_mode=False)


def test_the_last_revision_is_printed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(monkeypatch, (FIRST, LAST))
    assert "in 400 ms" in done.output
    assert "reranked by bge" in done.output
    assert "in 20 ms" not in done.output


def test_progressive_prints_both_in_the_order_in_which_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    output = run(monkeypatch, (FIRST, LAST), "--progressive").output
    assert 0 < output.index("not reranked yet") < output.index("reranked by bge")
    lines = run(monkeypatch, (FIRST, LAST), "--progressive", "--json").output.splitlines()
    assert [json.loads(line)["revision"] for line in lines] == [1, 2]


def test_an_error_is_the_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(monkeypatch, (FAILED,))
    assert done.return_value == 1
    assert "no reply came by the deadline" in done.output


def test_versions_that_are_asked_for_reach_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    class Keeping(Client):
        def ask_stream(self, question: str, **fields: Any) -> AsyncIterator[QueryReply]:
            asked.append(fields["min_version"])
            return super().ask_stream(question, **fields)

    monkeypatch.setattr(connect, "client", lambda _: Keeping(LAST))
    options = ["--min-version", "help/a/b=c.md=3", "--min-version", "git/x=0"]
    CliRunner().invoke(ask.command, ["Which port?", "--tenant", "acme", *options], standalone_mode=False)
    assert asked == [
        [{"source": "help", "doc_id": "a/b=c.md", "version": 3}, {"source": "git", "doc_id": "x", "version": 0}]
    ]


@pytest.mark.parametrize(
    "text", ["help/a", "help=3", "help/a=", "help/a=-1", "help/a=three", "/a=3", "help/=3", "", "help/a=\u0663"]
)
def test_a_version_that_cannot_be_read_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    error = run(monkeypatch, (LAST,), "--min-version", text).exception
    assert isinstance(error, ConfigurationError)
    assert str(error).startswith(f"--min-version {text!r} must be SOURCE/DOC=VERSION")
