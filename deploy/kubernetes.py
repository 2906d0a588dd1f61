"""k8s/base/processors: a Deployment and a disruption budget for each processor; what all share is beside them."""

from __future__ import annotations

from collections.abc import Sequence

from deploy.manifests import Manifest, text
from deploy.sizes import size
from streams.processor import Processor

FOLDER = "k8s/base/processors"
CONTAINER = "processor"  # the same name everywhere, so that one patch fits all
COMPONENT = "app.kubernetes.io/component"


def labels(processor: Processor) -> dict[str, str]:
    """Return the labels by which a processor's pods are told from others."""
    return {"app.kubernetes.io/name": "rankstream", COMPONENT: processor.name}


def files(processors: Sequence[Processor]) -> dict[str, bytes]:
    """Return the file of each processor and the list of them."""
    names = [f"{processor.name}.yaml" for processor in processors]
    listed: Manifest = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": names,
    }
    found = {f"{FOLDER}/kustomization.yaml": text([listed])}
    for name, processor in zip(names, processors, strict=True):
        found[f"{FOLDER}/{name}"] = text([_deployment(processor), _budget(processor)])
    return found


def _deployment(processor: Processor) -> Manifest:
    own = size(processor.name)
    memory = f"{own.memory}Mi"
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": processor.name,
            "labels": labels(processor),
            "annotations": {"rankstream.dev/does": processor.summary, "rankstream.dev/group": processor.group},
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels(processor)},
            "template": {
                "metadata": {"labels": labels(processor)},
                "spec": {
                    "containers": [
                        {
                            "name": CONTAINER,
                            "image": "rankstream",
                            "args": ["run", processor.name],
                            "resources": {
                                "requests": {"cpu": f"{own.cores * 1000:.0f}m", "memory": memory},
                                "limits": {"cpu": f"{own.most * 1000:.0f}m", "memory": memory},
                            },
                        }
                    ]
                },
            },
        },
    }


def _budget(processor: Processor) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": processor.name, "labels": labels(processor)},
        # One at a time, also where there is one alone: a node can still be drained.
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels(processor)}},
    }
