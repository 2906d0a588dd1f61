"""The processes themselves: which are ready, and what they use."""

from __future__ import annotations

from deploy.boards.panel import Dashboard, Panel, rate

OF_OURS = 'job=~"rankstream/.+"'
PROCESSES = Dashboard(
    name="processes",
    title="Processes",
    panels=(
        Panel(
            title="Processes that are ready",
            queries=[("sum by (processor) (rankstream_ready)", "{{processor}}")],
            width=12,
        ),
        Panel(
            title="Records in work",
            queries=[("sum by (processor) (rankstream_records_in_flight)", "{{processor}}")],
            width=12,
        ),
        Panel(
            title="Memory",
            queries=[(f"max by (job) (process_memory_usage_bytes{{{OF_OURS}}})", "{{job}}")],
            unit="bytes",
            about="The largest process of each.",
            width=12,
        ),
        Panel(
            title="Processor time, of a second",
            queries=[(rate("process_cpu_time_seconds_total", "job", OF_OURS), "{{job}}")],
            unit="percentunit",
            width=12,
        ),
        Panel(
            title="Files and connections",
            queries=[(f"max by (job) (process_open_file_descriptor_count{{{OF_OURS}}})", "{{job}}")],
        ),
        Panel(
            title="Since it began",
            queries=[(f"min by (job) (process_uptime_seconds{{{OF_OURS}}})", "{{job}}")],
            unit="s",
            about="The youngest process of each.",
        ),
        Panel(
            title="Files that are not as released",
            queries=[("max by (job) (rankstream_code_differences)", "{{job}}")],
        ),
        Panel(
            title="Restarts of containers, of an hour",
            queries=[
                (
                    'sum by (pod) (increase(kube_pod_container_status_restarts_total{container="processor"}[1h])) > 0',
                    "{{pod}}",
                )
            ],
            about="On Kubernetes.",
        ),
    ),
)
