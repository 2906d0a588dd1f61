"""Overlays as kustomize renders them, and the schemas that what they say must keep."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import yaml

from deploy import tools
from tests.conftest import unavailable

K8S = Path(__file__).parents[3] / "k8s"
OVERLAYS = ("dev", "production")
KUBERNETES = "1.33"
OWN_GROUPS = ("", "apps", "batch", "policy", "networking.k8s.io")

Manifest = dict[str, Any]


@cache
def overlay(name: str) -> list[Manifest]:
    """Return the objects of an overlay."""
    return build(K8S / "overlays" / name)


def build(folder: Path) -> list[Manifest]:
    """Return the objects of a folder, by kustomize itself or by the one that kubectl has inside."""
    own = tools.FOLDER / "bin" / "kustomize"
    kustomize = str(own) if own.exists() else shutil.which("kustomize")
    kubectl = shutil.which("kubectl")
    command = [kustomize, "build"] if kustomize else [kubectl, "kustomize"] if kubectl else None
    if command is None:
        unavailable("kustomize is not here: `make tools` fetches it")
        raise AssertionError
    done = subprocess.run([*map(str, command), str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # A warning is about something that a later kustomize will refuse.
    assert done.stderr == ""
    return list(yaml.safe_load_all(done.stdout))


def of_kind(objects: list[Manifest], kind: str) -> dict[str, Manifest]:
    """Return the objects of a kind by their names."""
    return {each["metadata"]["name"]: each for each in objects if each["kind"] == kind}


def pods(objects: list[Manifest]) -> Iterator[tuple[str, Manifest]]:
    """Return the pod templates with the names of what makes them."""
    for each in objects:
        if each["kind"] in ("Deployment", "StatefulSet", "Job"):
            yield each["metadata"]["name"], each["spec"]["template"]


def group(each: Manifest) -> str:
    """Return the API group of an object; that of the core has no name."""
    name, slash, _ = each["apiVersion"].partition("/")
    return str(name) if slash else ""


def wrong(each: Manifest) -> list[str]:
    """Return what the schema of its kind finds wrong in an object."""
    name = f"{each['kind']} {each['metadata']['name']}"
    if group(each) in OWN_GROUPS:
        try:
            kubernetes_validate.validate(each, KUBERNETES, strict=True)
        except kubernetes_validate.ValidationError as error:
            return [f"{name}: {'.'.join(map(str, error.path))}: {error.message}"]
        return []
    found = jsonschema.Draft202012Validator(_custom(each["apiVersion"], each["kind"])).iter_errors(each)
    return [f"{name}: {error.json_path}: {error.message}" for error in found]


def _custom(version: str, kind: str) -> Manifest:
    schemas = _schemas()
    if not schemas:
        unavailable("schemas of custom resources are not here: `make tools` fetches them")
    return schemas[version, kind]


@cache
def _schemas() -> dict[tuple[str, str], Manifest]:
    found = {}
    for file in sorted((tools.FOLDER / "crds").glob("*.yaml")):
        definition = yaml.load(file.read_text(), Loader=yaml.CSafeLoader)
        spec = definition["spec"]
        for version in spec["versions"]:
            schema = version["schema"]["openAPIV3Schema"]
            schema["properties"]["metadata"] = {"type": "object", "required": ["name"]}
            key = f"{spec['group']}/{version['name']}", spec["names"]["kind"]
            found[key] = closed(schema)
    return found


def closed(schema: Any) -> Any:
    """Return a schema that refuses fields which it does not name, as a server does that is told to be strict."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: closed(value) for name, value in schema.items()}
    if isinstance(found.get("properties"), dict) and not (
        found.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in found
    ):
        found["additionalProperties"] = False
    if found.pop("x-kubernetes-int-or-string", False):
        found.pop("anyOf", None)
        found["type"] = ["integer", "string"]
    return found
