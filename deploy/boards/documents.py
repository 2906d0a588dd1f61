"""How fresh the index is, and what holds it up."""

from __future__ import annotations

from deploy.boards.panel import BULK, LIVE, PROCESS, Dashboard, Panel, both, quantile, rate

DOCUMENTS = Dashboard(
    name="documents",
    title="Documents",
    panels=(
        Panel(
            title="From a change to its receipt",
            queries=both("rankstream_freshness_seconds", "status"),
            unit="s",
            about="Edits and first loads alike: while a source is loaded first, this is the load's.",
        ),
        Panel(
            title="The oldest that is not finished: edits",
            queries=[(f"max by (processor) (rankstream_time_lag_seconds{{{LIVE}}})", "{{processor}}")],
            unit="s",
            about="Two minutes for five minutes are an alert.",
        ),
        Panel(
            title="The oldest that is not finished: bulk lane and replays",
            queries=[(f'max by (processor) (rankstream_time_lag_seconds{{{BULK[:-1]}|replay"}})', "{{processor}}")],
            unit="s",
            about="Hours are well during a first load, as long as the next picture shows work.",
        ),
        Panel(
            title="Records finished: edits",
            queries=[(rate(f"{PROCESS}_count", "processor", LIVE), "{{processor}}")],
            unit="reqps",
        ),
        Panel(
            title="Records finished: bulk lane and replays",
            queries=[(rate(f"{PROCESS}_count", "processor", f'{BULK[:-1]}|replay"'), "{{processor}}")],
            unit="reqps",
        ),
        Panel(
            title="Work, p95",
            queries=[
                (quantile(0.95, PROCESS, "processor", f"{LIVE[:-1]}|{BULK.partition(chr(34))[2]}"), "{{processor}}")
            ],
            unit="s",
        ),
        Panel(
            title="The oldest in work",
            queries=[("max by (processor) (rankstream_head_of_line_age_seconds)", "{{processor}}")],
            unit="s",
        ),
        Panel(
            title="Waiting for a store or model that is away",
            queries=[("max by (processor) (rankstream_store_wait_seconds)", "{{processor}}")],
            unit="s",
        ),
        Panel(
            title="What became of records, but for done",
            queries=[(rate(f"{PROCESS}_count", "processor, outcome", 'outcome!="done"'), "{{processor}}: {{outcome}}")],
            unit="reqps",
        ),
        Panel(
            title="Dead letters, of an hour",
            queries=[
                (
                    "sum by (topic, error_class) (increase(rankstream_dead_letters_total[1h]))",
                    "{{topic}}: {{error_class}}",
                )
            ],
        ),
        Panel(
            title="Attempts that failed",
            queries=[(rate("rankstream_retries_total", "processor, cause"), "{{processor}}: {{cause}}")],
            unit="reqps",
        ),
    ),
)
