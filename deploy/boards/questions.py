"""How questions fare: the promise, where their time goes, why answers are degraded."""

from __future__ import annotations

from deploy.boards.panel import ANSWERED, ASKED, DEGRADED, PROCESS, QUERY, Dashboard, Panel, both, quantile, rate

QUESTIONS = Dashboard(
    name="questions",
    title="Questions",
    panels=(
        Panel(
            title="Answered, of a day's",
            queries=[
                (
                    f"sum(increase({ASKED}_count{{{ANSWERED}}}[1d])) / "
                    f'sum(increase({ASKED}_count{{result!~"validation|decode"}}[1d]))',
                    "",
                )
            ],
            unit="percentunit",
            about="The promise: 99.5 % of the questions that can be asked.",
            kind="stat",
            width=6,
            height=4,
        ),
        Panel(title="A second", queries=[(rate(f"{ASKED}_count"), "")], kind="stat", width=6, height=4),
        Panel(
            title="Degraded, of the answers",
            queries=[
                (
                    f"{rate(f'{ASKED}_count', labels=DEGRADED)} / {rate(f'{ASKED}_count', labels=ANSWERED)}",
                    "",
                )
            ],
            unit="percentunit",
            kind="stat",
            width=6,
            height=4,
        ),
        Panel(
            title="Runs of the probe that failed in a row",
            queries=[("max(rankstream_probe_failures)", "")],
            about="Two are an alert.",
            kind="stat",
            width=6,
            height=4,
        ),
        Panel(
            title="Outcomes",
            queries=[(rate(f"{ASKED}_count", "result"), "{{result}}")],
            unit="reqps",
            about="validation and decode are the asker's; the rest without an answer is ours.",
            stacked=True,
        ),
        Panel(title="From arrival to reply", queries=both(ASKED, labels=ANSWERED), unit="s"),
        Panel(
            title="As clients see it",
            queries=both("rankstream_client_question_duration_seconds"),
            unit="s",
            about="Clients with telemetry: gateways and the probe.",
        ),
        Panel(
            title="Work by stage, p95",
            queries=[(quantile(0.95, PROCESS, "processor", QUERY), "{{processor}}")],
            unit="s",
        ),
        Panel(
            title="Wait before each stage, p95",
            queries=[(quantile(0.95, "rankstream_process_wait_seconds", "processor", QUERY), "{{processor}}")],
            unit="s",
            about="How long a record was under way before its work began.",
        ),
        Panel(
            title="Legs, p95",
            queries=[(quantile(0.95, "rankstream_leg_duration_seconds", "leg"), "{{leg}}")],
            unit="s",
        ),
        Panel(
            title="Degraded, by leg and reason",
            queries=[(rate("rankstream_degraded_total", "leg, reason"), "{{leg}}: {{reason}}")],
            unit="reqps",
            stacked=True,
        ),
        Panel(
            title="Legs by status",
            queries=[(rate("rankstream_leg_results_total", "leg, status", 'status!="ok"'), "{{leg}}: {{status}}")],
            unit="reqps",
            about="Without those that ran well; `skipped` is the profile's or the language's choice.",
            stacked=True,
        ),
        Panel(
            title="Kept answers",
            queries=[(rate(f"{ASKED}_count", "cache", ANSWERED), "{{cache}}")],
            unit="reqps",
            stacked=True,
        ),
        Panel(
            title="Dropped on the way",
            queries=[
                (rate("rankstream_expired_total"), "expired"),
                (rate("rankstream_refused_total"), "refused: overloaded"),
                (rate("rankstream_late_results_total"), "leg results, late or twice"),
                (rate("rankstream_stale_hits_dropped_total"), "hits, replaced or deleted"),
            ],
            unit="reqps",
        ),
        Panel(title="Open joins", queries=[("sum by (processor) (rankstream_joins_open)", "{{processor}}")]),
        Panel(
            title="The probe's runs",
            queries=[
                ("sum by (outcome) (increase(rankstream_probe_duration_seconds_count[1h]))", "{{outcome}}, of an hour"),
                ("max(rankstream_probe_degraded_seconds) / 3600", "degraded for, hours"),
            ],
        ),
    ),
)
