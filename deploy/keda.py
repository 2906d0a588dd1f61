"""k8s/components/keda: how many processes each processor has, between bounds that its topic sets.

Ingest follows its lag: as many records may wait for a process as it works off in the target time. Questions follow
the time that a record takes, and the lag where nothing measures that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deploy.kubernetes import labels
from deploy.manifests import Manifest, quoted, text
from deploy.sizes import size
from streams.processor import Processor

FILE = "k8s/components/keda/scaled-objects.yaml"
INGEST_LAG = 60.0  # seconds that a document may wait for a processor before there is one more of it
QUERY_LAG = 1.0  # the same of a question
MOST = 8  # pods of one processor: some topics have many partitions for their clients' sake
PROMETHEUS = "http://prometheus-operated.monitoring.svc:9090"
# OpenTelemetry's metric for the time that a consumer takes for a message, as Prometheus writes it.
DURATION = "messaging_process_duration_seconds_bucket"
UP = {"stabilizationWindowSeconds": 0, "policies": [{"type": "Pods", "value": 2, "periodSeconds": 30}]}
# Slowly: each change moves partitions, and a lull is rarely the end.
DOWN = {"stabilizationWindowSeconds": 600, "policies": [{"type": "Pods", "value": 1, "periodSeconds": 300}]}


def files(processors: Sequence[Processor]) -> dict[str, bytes]:
    """Return the file of all scaled objects; what reads in a group for each generation has no lag of its own."""
    return {FILE: text(_scaled(processor) for processor in processors if not processor.per_generation)}


def _scaled(processor: Processor) -> Manifest:
    partitions = processor.source.partitions
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": processor.name, "labels": labels(processor)},
        "spec": {
            "scaleTargetRef": {"name": processor.name},
            "pollingInterval": 15,
            # A question does not wait for a process to start, nor for a node to come back.
            "minReplicaCount": min(2, partitions) if processor.latency else 1,
            "maxReplicaCount": min(partitions, MOST),
            "advanced": {"horizontalPodAutoscalerConfig": {"behavior": {"scaleUp": UP, "scaleDown": DOWN}}},
            "triggers": list(_triggers(processor)),
        },
    }


def _triggers(processor: Processor) -> Iterator[Manifest]:
    own = size(processor.name)
    waits = QUERY_LAG if processor.latency else INGEST_LAG
    yield {
        "type": "kafka",
        "metadata": {
            "bootstrapServersFromEnv": "KAFKA_BOOTSTRAP_SERVERS",
            "consumerGroup": processor.group,
            "topic": processor.source.name,
            "lagThreshold": quoted(max(1, round(own.rate * waits))),
            "offsetResetPolicy": "earliest",
        },
    }
    if processor.latency:
        took = f'rate({DURATION}{{messaging_consumer_group_name="{processor.group}"}}[2m])'
        yield {
            "type": "prometheus",
            "metricType": "Value",
            "metadata": {
                "serverAddress": PROMETHEUS,
                "query": f"histogram_quantile(0.95, sum by (le) ({took}))",
                "threshold": quoted(own.slow),
                "ignoreNullValues": "true",
            },
        }
