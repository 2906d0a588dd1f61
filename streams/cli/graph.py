"""rankstream graph: what is made of the knowledge graph as a whole."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from streams import settings
from streams.cli import console
from streams.errors import ConfigurationError, RankstreamError
from streams.settings import Settings

if TYPE_CHECKING:
    from streams.processors.summarising import Done


@click.group("graph", short_help="Have a language model summarize the graph.")
def command() -> None:
    """Work on the knowledge graph as a whole."""


@command.command("summarize")
@click.option("--tenant", metavar="NAME", help="One organization only; all where absent.")
@click.option("--dry-run", is_flag=True, help="Say how many overviews would be made; nothing is asked.")
def summarize(tenant: str | None, dry_run: bool) -> int:
    """Have the language model write overviews of what belongs together, for profiles with `graph_global = true`.

    Only what is new or has changed since the last run is asked for. Run it when documents have changed, by a schedule
    if you like: an overview of changed or deleted documents is not shown meanwhile. Exit 1 if the model failed.
    """
    found = settings.load()
    if found.llm is None and not dry_run:
        raise ConfigurationError(
            f"graph summarize needs a language model; set {settings.LLM_URL} and {settings.LLM_MODEL}"
        )
    return asyncio.run(_summarize(found, tenant, dry_run))


async def _summarize(found: Settings, tenant: str | None, dry_run: bool) -> int:
    from streams.adapters.chat import ChatModel  # noqa: PLC0415  the help must not wait for these
    from streams.adapters.overviews import PostgresOutlines, PostgresOverviews  # noqa: PLC0415
    from streams.adapters.postgres_epochs import PostgresEpochs  # noqa: PLC0415
    from streams.adapters.postgres_generations import PostgresGenerations  # noqa: PLC0415
    from streams.cli import stored  # noqa: PLC0415
    from streams.processors.asking import Asker  # noqa: PLC0415
    from streams.processors.summarising import Deps, summarise  # noqa: PLC0415

    llm = found.llm
    model = ChatModel(url=llm.url, model=llm.model, key=llm.key) if llm is not None and not dry_run else None
    failed = ""
    try:
        async with stored.database(found) as pool:
            generations = PostgresGenerations(pool=pool)
            generation = (await generations.live()).id
            tenants = [each.tenant for each in await generations.counts(generation)]
            if tenant is not None and tenant not in tenants:
                raise ConfigurationError(f"--tenant: {tenant} has no documents in generation {generation}")
            deps = Deps(
                outlines=PostgresOutlines(pool=pool),
                overviews=PostgresOverviews(pool=pool),
                model=llm.model if llm else "",
                # What it says is kept with the chunks it stands on, and goes with them: nowhere else.
                asker=Asker(model=model) if model else None,
            )
            for each in tenants if tenant is None else [tenant]:
                done = await summarise(each, generation, deps)
                console.say(f"{each}: {_said(done, dry_run=dry_run)}")
                if done.made or done.dropped:
                    await PostgresEpochs(pool=pool).bump(each)  # kept answers know nothing of the new ones
                failed = done.reason or failed
                if done.failed:
                    break
    finally:
        if model is not None:
            await model.close()
    if model is not None:
        spent = model.spent
        console.say(
            f"{model.model}: {spent.calls} answers, {spent.failures} failures, "
            f"{spent.prompt_tokens} + {spent.completion_tokens} tokens"
        )
    if failed:
        raise RankstreamError(f"some overviews are missing: {failed}; run it again")
    return 0


def _said(done: Done, *, dry_run: bool) -> str:
    if dry_run:
        return f"{done.clusters} clusters, {done.wanted} to be summarized"
    counts = {
        "made": done.made,
        "kept": done.kept,
        "not believed": done.refused,
        "changed meanwhile": done.overtaken,
        "failed": done.failed,
        "dropped": done.dropped,
    }
    told = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
    return f"{done.clusters} clusters" + (f": {told}" if told else "")
