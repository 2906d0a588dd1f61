"""rankstream ask: one question on the command line, or a file of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click

from streams import settings
from streams.cli import connect, console


@click.command("ask", short_help="Ask a question, or a file of them.")
@click.argument("question", required=False)
@click.option("--tenant", metavar="NAME", help="The organization; with --file, of lines that name none.")
@click.option("--agent", metavar="NAME", help="The assistant that asks; its restricted documents are seen as well.")
@click.option("--profile", default="general", show_default=True, help="The configuration of the search.")
@click.option("--top-k", type=click.IntRange(1, 100), help="How many passages; the profile's number where absent.")
@click.option("--timeout", default=5.0, show_default=True, help="Seconds until the deadline.")
@click.option("--json", "as_json", is_flag=True, help="Print the reply as one line of JSON.")
@click.option("--explain", is_flag=True, help="Show the whole arithmetic, and what was dropped by which rule.")
@click.option(
    "--floor", type=click.FloatRange(0, 1), help="The least score, in place of the profile's; 0 drops nothing."
)
@click.option("--generation", metavar="NAME", help="Which index answers; the live one where absent.")
@click.option("--progressive", is_flag=True, help="Print the answer as it is fused, then as it is reranked.")
@click.option(
    "--min-version",
    metavar="SOURCE/DOC=N",
    multiple=True,
    help="The answer says `stale`, and by how much, unless this version is searched; may be given several times.",
)
@click.option("--cache/--no-cache", default=True, help="Whether a kept answer will do.  [default: cache]")
@click.option(
    "--file", "path", type=click.Path(path_type=Path), help='Ask every line: {"id": …, "text": …}; - reads stdin.'
)
@click.option("--out", type=click.Path(path_type=Path), help="With --file: where the replies go; stdout where absent.")
@click.option("--concurrency", default=8, show_default=True, type=click.IntRange(1, 256), help="With --file: at once.")
def command(
    question: str | None,
    *,
    path: Path | None,
    out: Path | None,
    concurrency: int,
    as_json: bool,
    progressive: bool,
    **fields: Any,
) -> int:
    """Ask QUESTION and print the passages that answer it, or ask a whole --file of questions."""
    fields["min_version"] = [connect.wanted_version(text) for text in fields["min_version"]]
    found = settings.load()
    if path is not None:
        if question is not None:
            raise click.UsageError("give a QUESTION or --file, not both")
        from streams.cli import ask_file  # noqa: PLC0415

        return asyncio.run(ask_file.run(connect.client(found), path, out, concurrency, fields))
    if question is None:
        raise click.UsageError("what is the QUESTION? (or --file queries.jsonl)")
    if not fields["tenant"]:
        raise click.UsageError("--tenant is missing: whose documents are to be searched?")
    return asyncio.run(_ask(connect.client(found), question, as_json, progressive, fields))


async def _ask(client: Any, question: str, as_json: bool, progressive: bool, fields: dict[str, Any]) -> int:
    from schemas import codec  # noqa: PLC0415
    from streams.cli import answers  # noqa: PLC0415

    failed = False
    async with client:
        async for reply in client.ask_stream(question, **fields):
            if not (reply.final or progressive):
                continue
            if as_json:
                console.say(codec.encode(reply).decode())
            failed = reply.error is not None
            if reply.error is not None:
                console.note(answers.error_line(reply.error))
            elif not as_json:
                console.say(answers.render(question, reply, width=console.width(), explain=fields["explain"]))
    return 1 if failed else 0
