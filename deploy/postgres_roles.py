"""k8s/components/postgres-roles: each processor reaches Postgres as the user of its kind of work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deploy.kubernetes import CONTAINER
from deploy.manifests import Manifest, text
from streams import settings
from streams.processor import Processor
from streams.processors import store_roles

FOLDER = "k8s/components/postgres-roles"
SECRET = "rankstream-postgres"  # a URL for each kind of work, by the kind's name


def files(processors: Sequence[Processor]) -> dict[str, bytes]:
    """Return the file of patches."""
    return {f"{FOLDER}/logins.yaml": text(_logins(processors))}


def _logins(processors: Sequence[Processor]) -> Iterator[Manifest]:
    for processor in processors:
        role = store_roles.of_user(processor.name)
        if role is not None:
            yield _login("Deployment", "apps/v1", processor.name, role)
    yield _login("Deployment", "apps/v1", "gateway", "gateway")
    yield _login("Deployment", "apps/v1", "operator", "operator")
    yield _login("Job", "batch/v1", "topics", store_roles.OWNER)


def _login(kind: str, api: str, name: str, key: str) -> Manifest:
    # A variable of a container's own goes before those of the secret that all share.
    variable = {"name": settings.POSTGRES, "valueFrom": {"secretKeyRef": {"name": SECRET, "key": key}}}
    spec = {"containers": [{"name": CONTAINER, "env": [variable]}]}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": {"template": {"spec": spec}}}
