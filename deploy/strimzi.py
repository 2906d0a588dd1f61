"""k8s/components/strimzi: topics and users for Strimzi's operators, made from the catalogue and what each may do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from deploy.manifests import Manifest, text
from streams.processor import Processor
from streams.processors import rights
from streams.processors.rights import Right
from topics.topic import Topic

FOLDER = "k8s/components/strimzi"
CLUSTER = "rankstream"
API = "kafka.strimzi.io/v1"
REPLICAS = 3
USER = "rankstream-{}"  # of a processor, of `clients`, of the `gateway` and of the `operator`


def files(topics: Sequence[Topic], processors: Sequence[Processor]) -> dict[str, bytes]:
    """Return the files of topics and users."""
    granted: dict[str, Iterable[Right]] = {
        **{processor.name: rights.of_processor(processor) for processor in processors},
        "clients": rights.of_clients(),
        "gateway": rights.of_gateway(),
        "log-shipper": rights.of_log_shipper(),
        "operator": rights.of_operator(),
    }
    return {
        f"{FOLDER}/topics.yaml": text(map(_topic, topics)),
        f"{FOLDER}/users.yaml": text(_user(name, each) for name, each in granted.items()),
    }


def _topic(topic: Topic) -> Manifest:
    return {
        "apiVersion": API,
        "kind": "KafkaTopic",
        "metadata": {"name": topic.name, "labels": {"strimzi.io/cluster": CLUSTER}},
        "spec": {"partitions": topic.partitions, "replicas": REPLICAS, "config": dict(topic.config)},
    }


def _user(name: str, granted: Iterable[Right]) -> Manifest:
    return {
        "apiVersion": API,
        "kind": "KafkaUser",
        "metadata": {"name": USER.format(name), "labels": {"strimzi.io/cluster": CLUSTER}},
        "spec": {
            "authentication": {"type": "scram-sha-512"},
            "authorization": {"type": "simple", "acls": [_acl(right) for right in granted]},
        },
    }


def _acl(right: Right) -> Manifest:
    return {
        "resource": {"type": right.kind, "name": right.name, "patternType": "prefix" if right.begins else "literal"},
        "operations": list(right.operations),
    }
