"""k8s/components/strimzi: topics and users for Strimzi's operators, made from the catalogue and what each may do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from deploy.kubernetes import CONTAINER
from deploy.manifests import Manifest, text
from streams import settings
from streams.cli.acls import acl
from streams.processor import Processor
from streams.processors import rights
from streams.processors.rights import Right
from topics.topic import Topic

FOLDER = "k8s/components/strimzi"
CLUSTER = "rankstream"
API = "kafka.strimzi.io/v1"
REPLICAS = 3
USER = "rankstream-{}"  # of a processor, or of one of `rights.OTHERS`
SECRETS = "/etc/rankstream/kafka"  # where a user's password and the cluster's CA are mounted


def files(topics: Sequence[Topic], processors: Sequence[Processor]) -> dict[str, bytes]:
    """Return the files of topics and users."""
    return {
        f"{FOLDER}/topics.yaml": text(map(_topic, topics)),
        f"{FOLDER}/logins.yaml": text(_logins(processors)),
        f"{FOLDER}/users.yaml": text(_user(name, each) for name, each in rights.of_everyone().items()),
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
            "authorization": {"type": "simple", "acls": [acl(right) for right in granted]},
        },
    }


def _logins(processors: Sequence[Processor]) -> Iterator[Manifest]:
    """Return a patch for each Deployment and for the job that prepares topics: its user, password and trust."""
    for processor in processors:
        yield _login("Deployment", "apps/v1", processor.name, USER.format(processor.name))
    yield _login("Deployment", "apps/v1", "gateway", USER.format("gateway"))
    yield _login("Deployment", "apps/v1", "probe", USER.format("probe"))
    yield _login("Deployment", "apps/v1", "operator", USER.format("operator"))
    yield _login("Job", "batch/v1", "topics", USER.format("operator"))


def _login(kind: str, api: str, name: str, user: str) -> Manifest:
    mount = {"name": "kafka", "mountPath": SECRETS, "readOnly": True}
    container = {
        "name": CONTAINER,
        "env": [{"name": settings.KAFKA_USERNAME, "value": user}],
        "volumeMounts": [mount],
    }
    secrets = {user: "password", f"{CLUSTER}-cluster-ca-cert": "ca.crt"}
    sources = [{"secret": {"name": secret, "items": [{"key": key, "path": key}]}} for secret, key in secrets.items()]
    volume = {"name": "kafka", "projected": {"defaultMode": 0o440, "sources": sources}}
    spec = {"containers": [container], "volumes": [volume]}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": {"template": {"spec": spec}}}
