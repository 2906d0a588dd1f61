"""Kafka, by its exporter: how far groups are, and how the brokers do."""

from __future__ import annotations

from deploy.boards.panel import STEP, Dashboard, Panel

OURS = 'consumergroup=~"rankstream[.].+"'
KAFKA_VOLUME = 'persistentvolumeclaim=~"data-.*rankstream-nodes-.+"'
KAFKA = Dashboard(
    name="kafka",
    title="Kafka",
    panels=(
        Panel(
            title="Records to read, by group",
            queries=[(f"sum by (consumergroup) (kafka_consumergroup_lag{{{OURS}}})", "{{consumergroup}}")],
            width=12,
        ),
        Panel(
            title="Acknowledged, by group",
            queries=[
                (
                    f"sum by (consumergroup) (rate(kafka_consumergroup_current_offset{{{OURS}}}[{STEP}]))",
                    "{{consumergroup}}",
                )
            ],
            unit="reqps",
            width=12,
        ),
        Panel(
            title="Written, by topic",
            queries=[(f"sum by (topic) (rate(kafka_topic_partition_current_offset[{STEP}]))", "{{topic}}")],
            unit="reqps",
            width=12,
        ),
        Panel(
            title="Members of groups",
            queries=[(f"sum by (consumergroup) (kafka_consumergroup_members{{{OURS}}})", "{{consumergroup}}")],
            width=12,
        ),
        Panel(title="Brokers", queries=[("max(kafka_brokers)", "brokers")]),
        Panel(
            title="Partitions with too few copies",
            queries=[("sum by (topic) (kafka_topic_partition_under_replicated_partition) > 0", "{{topic}}")],
        ),
        Panel(
            title="Disk that is used",
            queries=[
                (
                    f"kubelet_volume_stats_used_bytes{{{KAFKA_VOLUME}}} / "
                    f"kubelet_volume_stats_capacity_bytes{{{KAFKA_VOLUME}}}",
                    "{{persistentvolumeclaim}}",
                )
            ],
            unit="percentunit",
            about="On Kubernetes. Four fifths are an alert.",
        ),
    ),
)
