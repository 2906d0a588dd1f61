"""Calls to stores and models: how many, how long, how many fail; batches; what a language model costs."""

from __future__ import annotations

from deploy.boards.panel import CALLS, Dashboard, Panel, quantile, rate

STORES = Dashboard(
    name="stores",
    title="Stores and models",
    panels=(
        Panel(title="Calls", queries=[(rate(f"{CALLS}_count", "system"), "{{system}}")], unit="reqps"),
        Panel(title="Calls, p95", queries=[(quantile(0.95, CALLS, "system"), "{{system}}")], unit="s"),
        Panel(
            title="Calls that failed or were given up",
            queries=[(rate(f"{CALLS}_count", "system, outcome", 'outcome!="ok"'), "{{system}}: {{outcome}}")],
            unit="reqps",
        ),
        Panel(
            title="Operations of stores, p95",
            queries=[
                (
                    quantile(0.95, CALLS, "system, operation", 'system=~"postgresql|qdrant|redis"'),
                    "{{system}} {{operation}}",
                )
            ],
            unit="s",
            width=16,
            height=10,
        ),
        Panel(
            title="Time in each store, of a second",
            queries=[(rate(f"{CALLS}_sum", "system"), "{{system}}")],
            unit="s",
            about="How many calls are under way at once, on average.",
            height=10,
        ),
        Panel(
            title="Texts of a batch",
            queries=[
                (
                    f"{rate('rankstream_batch_size_sum', 'kind')} / {rate('rankstream_batch_size_count', 'kind')}",
                    "{{kind}}",
                )
            ],
        ),
        Panel(
            title="A batch's wait, p95",
            queries=[(quantile(0.95, "rankstream_batch_wait_seconds", "kind"), "{{kind}}")],
            unit="s",
        ),
        Panel(title="Texts that wait for a model", queries=[("sum by (kind) (rankstream_batch_queue)", "{{kind}}")]),
        Panel(
            title="Models at work, of a second",
            queries=[(rate("rankstream_model_busy_seconds_total", "kind"), "{{kind}}")],
            unit="percentunit",
            about="One process' model is busy at 100 %.",
        ),
        Panel(
            title="Texts that found a model's queue full",
            queries=[(rate("rankstream_batch_refused_total", "kind"), "{{kind}}")],
            unit="reqps",
        ),
        Panel(
            title="Language model: answers, of an hour",
            queries=[("sum by (outcome) (increase(rankstream_llm_calls_total[1h]))", "{{outcome}}")],
        ),
        Panel(
            title="Language model: tokens, of an hour",
            queries=[("sum by (token_type) (increase(rankstream_llm_tokens_total[1h]))", "{{token_type}}")],
            about="Times the provider's price a token: what it costs.",
            stacked=True,
        ),
        Panel(
            title="Hosted embedders: tokens, of an hour",
            queries=[("sum by (kind) (increase(rankstream_embedder_tokens_total[1h]))", "{{kind}}")],
            about="As the providers count; OpenAI and what speaks its protocol do; Cloudflare's answers do not say.",
            stacked=True,
        ),
    ),
)
