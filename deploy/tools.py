"""Fetches what checks the files for deployment into .tools/: `python -m deploy.tools`, once; needs Go, Maven, Java 21.

kustomize renders overlays, compose-go reads docker-compose.yml as Docker Compose does, and the schemas of custom
resources (Strimzi, KEDA, Prometheus operator) come from the modules and jars of their projects. promtool, which runs
the tests of alerts, takes minutes to build and is fetched where it is named: `python -m deploy.tools promtool`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).parents[1] / ".tools"
KUSTOMIZE = ("sigs.k8s.io/kustomize/kustomize/v5", "v5.8.1")
COMPOSE = ("github.com/compose-spec/compose-go/v2", "v2.16.2")
KEDA = ("github.com/kedacore/keda/v2", "v2.21.0")
PROMETHEUS = ("github.com/prometheus-operator/prometheus-operator", "v0.85.0")
PROMTOOL = ("github.com/prometheus/prometheus", "v0.307.3")  # of Prometheus 3.7.3
STRIMZI = ("io.strimzi", "1.2.0")
KINDS = ("kafka.Kafka", "nodepool.KafkaNodePool", "topic.KafkaTopic", "user.KafkaUser")
OLDEST_JAVA = 21  # of Strimzi's jars
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>rankstream</groupId><artifactId>tools</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>{}</dependencies></project>
"""
DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"


class ToolMissing(Exception):
    """A program that is needed to fetch a tool is not on this machine."""


def kustomize() -> None:
    """Build kustomize."""
    _go("install", "@".join(KUSTOMIZE), GOBIN=str(FOLDER / "bin"))


def compose() -> None:
    """Build the reader of compose files that Docker Compose uses."""
    module, version = COMPOSE
    _go("install", f"{module}/cmd@{version}", GOBIN=str(FOLDER / "bin"))
    (FOLDER / "bin" / "cmd").rename(FOLDER / "bin" / "compose-check")


def keda() -> None:
    """Fetch the custom resources of KEDA."""
    for kind in ("scaledobjects", "triggerauthentications"):
        _copy(_module(*KEDA) / "config" / "crd" / "bases", f"keda.sh_{kind}.yaml")


def prometheus() -> None:
    """Fetch the custom resources of the Prometheus operator."""
    folder = _module(*PROMETHEUS) / "example" / "prometheus-operator-crd"
    for kind in ("podmonitors", "prometheusrules", "servicemonitors"):
        _copy(folder, f"monitoring.coreos.com_{kind}.yaml")


def promtool() -> None:
    """Build the checker of Prometheus' rules, in a copy of its module: `go install` refuses what replaces modules."""
    source = FOLDER / "prometheus"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(_module(*PROMTOOL), source)
    for folder in (source, *(path for path in source.rglob("*") if path.is_dir())):
        folder.chmod(0o755)  # the module's own are read-only
    command = [_program("go"), "build", "-ldflags=-s -w", "-o", str(FOLDER / "bin" / "promtool"), "./cmd/promtool"]
    _run(command, cwd=source)
    shutil.rmtree(source)


def strimzi() -> None:
    """Have Strimzi's generator write its custom resources, as its own build does."""
    group, version = STRIMZI
    java, maven = _java(), _program("mvn")
    work = FOLDER / "strimzi"
    work.mkdir(parents=True, exist_ok=True)
    dependencies = "".join(DEPENDENCY.format(group, name, version) for name in ("api", "crd-generator"))
    (work / "pom.xml").write_text(POM.format(dependencies))
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={work / 'jars'}"]
    _run([maven, "-B", "-q", *goal], cwd=work)
    wanted = [f"io.strimzi.api.kafka.model.{kind}={_crds() / kind.split('.')[1].lower()}.yaml" for kind in KINDS]
    main = "io.strimzi.crdgenerator.CrdGenerator"
    _run([java, "-cp", f"{work / 'jars'}/*", main, "--yaml", *wanted], cwd=work)


TOOLS: dict[str, tuple[Callable[[], None], str]] = {
    "kustomize": (kustomize, KUSTOMIZE[1]),
    "compose": (compose, COMPOSE[1]),
    "keda": (keda, KEDA[1]),
    "prometheus": (prometheus, PROMETHEUS[1]),
    "promtool": (promtool, PROMTOOL[1]),
    "strimzi": (strimzi, STRIMZI[1]),
}


def fetch(name: str) -> str | None:
    """Fetch a tool where this version of it is not there; return in a line why that did not work."""
    make, version = TOOLS[name]
    mark = FOLDER / f"{name}.version"
    if mark.exists() and mark.read_text() == version:
        return None
    FOLDER.mkdir(exist_ok=True)
    try:
        make()
    except (ToolMissing, OSError) as error:
        return f"{name}: {error}"
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout or "no reason given").strip().splitlines()
        return f"{name}: {Path(error.cmd[0]).name} failed: {said[-1] if said else 'no reason given'}"
    mark.write_text(version)
    return None


def _module(module: str, version: str) -> Path:
    said = _go("mod", "download", "-json", f"{module}@{version}")
    return Path(json.loads(said)["Dir"])


def _go(*arguments: str, **environment: str) -> str:
    # Outside of any module: what is installed must not depend on what lies around.
    return _run([_program("go"), *arguments], cwd=FOLDER, environment={"GOFLAGS": "-mod=mod", **environment})


def _run(command: list[str], *, cwd: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=True
    )
    return done.stdout


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise ToolMissing(f"{name} is not installed")
    return found


def _java() -> str:
    """Return a Java that is new enough: that of the path, or one beside it."""
    found = [shutil.which("java"), *map(str, sorted(Path("/usr/lib/jvm").glob("*/bin/java")))]
    for java in filter(None, found):
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
        version = said.partition('version "')[2].partition(".")[0].partition('"')[0]
        if version.isdecimal() and int(version) >= OLDEST_JAVA:
            return java
    raise ToolMissing(f"Java {OLDEST_JAVA} or newer is not installed")


def _crds() -> Path:
    folder = FOLDER / "crds"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _copy(folder: Path, name: str) -> None:
    shutil.copyfile(folder / name, _crds() / name)


if __name__ == "__main__":
    wanted = sys.argv[1:] or [name for name in TOOLS if name != "promtool"]
    if unknown := set(wanted) - TOOLS.keys():
        sys.exit(f"deploy.tools: there is no {', '.join(sorted(unknown))}; there are {', '.join(TOOLS)}")
    problems = [problem for name in wanted if (problem := fetch(name)) is not None]
    sys.stdout.write("".join(f"{problem}\n" for problem in problems))
    sys.exit(1 if problems else 0)
