"""The command and mirrored sources against a real broker, with a small server that answers in the test."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

from schemas import codec
from schemas.documents import DocumentChange, DocumentStatus
from schemas.queries import QueryRequest
from schemas.replies import QueryReply
from streams.gateways.client import Client
from streams.sources import folder
from streams.sources.mirror import Mirror
from streams.sources.state import opened
from tests.integration.answering import Server, at_once


async def test_a_mirrored_source_publishes_only_what_changed_and_remembers_what_arrived(
    server: Server, client: Client, tmp_path: Path
) -> None:
    async def fails_once(server: Server, change: DocumentChange) -> None:
        first = sum(seen.doc_id == change.doc_id for seen in server.changes) == 1
        await server.receipt(change, **({"status": "failed"} if change.doc_id == "bad.md" and first else {}))

    async def publish() -> list[tuple[str, str]]:
        del seen[:]
        with opened(tmp_path / "memory.sqlite") as state:
            mirror = Mirror(
                tenant=server.tenant,
                source="s",
                read=lambda: folder.read(docs, tenant=server.tenant, source="s"),
                state=state,
            )
            async for published in mirror.publish(client, mirror.plan(), now=time.time(), wait=True, timeout=5):
                seen.append((published.key.doc_id, published.status.status if published.status else ""))
        return sorted(seen)

    seen: list[tuple[str, str]] = []
    docs = tmp_path / "docs"
    docs.mkdir()
    server.confirm = fails_once
    for name in ("a.md", "b.md", "bad.md"):
        (docs / name).write_text(name)
    assert await publish() == [("a.md", "searchable"), ("b.md", "searchable"), ("bad.md", "failed")]
    (docs / "b.md").unlink()
    assert await publish() == [("b.md", "deleted"), ("bad.md", "searchable")]
    assert await publish() == []
    versions = [change.version for change in server.changes if change.doc_id == "b.md"]
    assert versions == sorted(set(versions))


async def command(broker: str, *arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """Run `rankstream` in a process of its own and return its exit code and what it said."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "streams.cli.main", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "KAFKA_BOOTSTRAP_SERVERS": broker},
    )
    out, err = await asyncio.wait_for(process.communicate(stdin), 30)
    return process.returncode or 0, out.decode(), err.decode()


async def test_ask_on_the_command_line_prints_the_reply(server: Server, broker: str) -> None:
    code, out, _ = await command(broker, "ask", "money back?", "--tenant", server.tenant, "--json")
    reply = codec.decode(out.encode(), QueryReply)
    assert (code, reply.reasons) == (0, ("money back?",))
    code, out, err = await command(broker, "ask", "x", "--tenant", "NO")
    assert (code, out, err.startswith("tenant: may have only")) == (1, "", True)


async def test_a_file_of_questions_is_answered_line_by_line_in_its_order(server: Server, broker: str) -> None:
    async def the_first_last(server: Server, request: QueryRequest, headers: dict[str, bytes]) -> None:
        await asyncio.sleep(0.3 if request.text == "0" else 0)
        await at_once(server, request, headers)

    server.answer = the_first_last
    lines = [b'{"id": "%d", "text": "%d", "gold": []}' % (n, n) for n in range(5)]
    lines[2:2] = [b"nonsense", b"", b'{"id": "x"}']
    code, out, err = await command(broker, "ask", "--file", "-", "--tenant", server.tenant, stdin=b"\n".join(lines))
    replies = [codec.decode(line.encode(), QueryReply) for line in out.splitlines()]
    assert code == 0
    assert [reply.query_id for reply in replies] == ["0", "1", "line-3", "x", "2", "3", "4"]
    assert [reply.error.error_class for reply in replies if reply.error] == ["validation", "validation"]
    assert replies[3].error is not None
    assert replies[3].error.field == "text"
    assert "2 of 7 replies are errors: 2 validation" in err


async def test_published_lines_that_are_wrong_are_told_and_the_rest_arrives(server: Server, broker: str) -> None:
    tenant = server.tenant.encode()
    event = b'{"specversion": "1.0", "type": "dev.rankstream.document.delete", "source": "s", "id": "1", '
    event += b'"subject": "b", "tenant": "%s", "version": 2}' % tenant
    lines = [
        b'{"tenant": "%s", "doc_id": "a", "version": 1, "content": "x"}' % tenant,
        b'{"tenant": "%s", "doc_id": "a", "version": "one"}' % tenant,
        event,
    ]
    code, out, err = await command(broker, "publish", "-", "--wait", stdin=b"\n".join(lines))
    statuses = {status.doc_id: status.status for status in (decode_status(line) for line in out.splitlines())}
    assert (code, statuses) == (1, {"a": "searchable", "b": "deleted"})
    assert "line 2: version: Expected `int`, got `str`" in err


def decode_status(line: str) -> DocumentStatus:
    return codec.decode(line.encode(), DocumentStatus)


async def test_a_processor_that_there_is_not_is_named_with_those_that_there_are(broker: str) -> None:
    code, _, err = await command(broker, "run", "chunker")
    assert code == 2
    assert err.startswith("rankstream: there is no processor 'chunker'; there are chunk, ")
