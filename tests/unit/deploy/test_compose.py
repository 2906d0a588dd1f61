"""docker-compose.yml: what it starts is the catalogue, and Docker Compose's own reader accepts it."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy import alerts, compose, dashboards, sizes, tools
from schemas.generate import differing
from streams import settings
from streams.cli import run
from streams.processor import Processor
from streams.processors import catalogue, rights
from tests.composed import DOCUMENT, ROOT, SERVICES, environment
from tests.conftest import unavailable
from topics.catalogue import QUERY_LOG

FILE = ROOT / compose.FILE
# What rankstream itself runs; all else is a server.
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
RUNNING = {name: service for name, service in OURS.items() if service["command"][0] == "run"}
GATEWAY = "gateway"  # no processor: it has no consumer group, and a port
PROCESSORS = {name: service for name, service in RUNNING.items() if name != GATEWAY}
CHECKED = {"Strimzi": tools.STRIMZI, "KEDA": tools.KEDA, "Prometheus operator": tools.PROMETHEUS}
UNITS = {"s": 1, "m": 60, "h": 3600}


def duration(text: str) -> timedelta:
    return timedelta(seconds=int(text[:-1]) * UNITS[text[-1]])


def check(file: Path) -> subprocess.CompletedProcess[str]:
    """Have the library that Docker Compose reads its files with read one."""
    program = tools.FOLDER / "bin" / "compose-check"
    if not program.exists():
        unavailable("compose-check is not here: `make tools` fetches it")
    return subprocess.run(
        [program, "-format", "json", str(file)], cwd=file.parent, capture_output=True, text=True, check=False
    )


def test_the_file_is_what_the_catalogue_says() -> None:
    files = {compose.FILE: compose.rendered(FILE.read_text(), catalogue.ALL).encode()}
    assert differing(files, ROOT) == [], "run `python -m deploy.generate`"


def test_every_processor_of_the_catalogue_is_a_service_of_its_name() -> None:
    plain = {name: service for name, service in PROCESSORS.items() if "profiles" not in service}
    assert list(plain) == [processor.name for processor in catalogue.ALL], "run `python -m deploy.generate`"
    assert all(service["command"] == ["run", name] for name, service in plain.items())


def test_a_processor_for_a_gpu_runs_what_the_one_without_runs() -> None:
    gpu = {name: service for name, service in PROCESSORS.items() if "profiles" in service}
    assert {name.removesuffix("-gpu") for name in gpu} == {
        processor.name for processor in catalogue.ALL if sizes.size(processor.name).models
    }
    for name, service in gpu.items():
        plain = PROCESSORS[name.removesuffix("-gpu")]
        assert (service["command"], service["environment"]) == (plain["command"], plain["environment"])
        assert service["profiles"] == ["gpu"]
        assert service["build"]["target"] == "bge"


def test_sizes_are_those_of_processors_that_there_are() -> None:
    assert sizes.unknown(catalogue.ALL) == [], "deploy/sizes.py: take these names out"


def test_a_bulk_lane_is_as_large_as_its_lane_and_a_new_processor_small() -> None:
    assert sizes.size("embed-bulk") == sizes.size("embed") != sizes.SMALL
    assert sizes.size("brand-new") == sizes.SMALL


def test_what_stands_outside_of_the_marks_is_kept() -> None:
    around = f"head\n{compose.BEGIN}  old: {{}}\n{compose.END}tail\n"
    one: list[Processor] = [catalogue.ALL[0]]
    line = f"  {one[0].name}: {{<<: *processor, command: [run, {one[0].name}]}}\n"
    assert compose.rendered(around, one) == f"head\n{compose.BEGIN}{line}{compose.END}tail\n"
    with pytest.raises(ValueError, match="marks"):
        compose.rendered("head\n", one)


def test_what_is_set_is_a_setting() -> None:
    known = {value for name, value in vars(settings).items() if name.isupper() and isinstance(value, str)}
    for service in OURS.values():
        assert environment(service).keys() <= known | {"PGPASSWORD"}


def test_what_an_operator_sets_comes_before_what_is_set_here() -> None:
    """`environment` would beat every file: only what the containers need as they are stands there."""
    for service in OURS.values():
        assert service["env_file"] == ["deploy/compose.env", {"path": "rankstream.env", "required": False}]
        as_they_are = {settings.DATA_DIR, settings.HEALTH, settings.HTTP, "PGPASSWORD"}
        assert service["environment"].keys() <= as_they_are


@pytest.mark.parametrize("name", OURS)
def test_a_container_of_ours_can_be_scaled_and_may_do_next_to_nothing(name: str) -> None:
    service = OURS[name]
    assert not {"container_name", "hostname", "privileged"} & service.keys()
    assert ("ports" in service) is (name == GATEWAY)
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]


def test_the_gateway_listens_where_its_ports_lead_and_several_find_one_each_on_loopback() -> None:
    service = SERVICES[GATEWAY]
    assert service["command"] == ["run", GATEWAY]
    assert service["environment"].items() >= SERVICES["topics"]["environment"].items()
    [port] = service["ports"]
    first, last = re.fullmatch(r"127\.0\.0\.1:\$\{GATEWAY_PORTS:-(\d+)-(\d+)}:8400", port).groups()  # type: ignore[union-attr]
    assert int(first) < int(last)
    assert settings.given({settings.HTTP: service["environment"][settings.HTTP]}).http == ("0.0.0.0", 8400)


def test_a_processor_has_longer_to_end_than_it_takes() -> None:
    for service in RUNNING.values():
        assert duration(service["stop_grace_period"]) > 2 * timedelta(seconds=run.STOP)


def test_a_service_waits_for_services_that_can_become_what_it_waits_for() -> None:
    for name, service in SERVICES.items():
        wanted = service.get("depends_on", {})
        assert set(wanted) <= SERVICES.keys(), name
        for other, how in wanted.items() if isinstance(wanted, dict) else ():
            if how["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[other], f"{name} waits for the health of {other}"
            else:
                assert SERVICES[other].get("restart", "no") == "no", f"{other} never completes"
    for service in RUNNING.values():
        assert set(service["depends_on"]) == {"topics", "kafka", "qdrant", "postgres", "redis"}


def test_the_probe_asks_every_ten_minutes_and_remembers_its_runs() -> None:
    probe = SERVICES["probe"]
    assert probe["command"] == ["probe", "--every", "600"]
    kept = probe["environment"][settings.DATA_DIR]
    assert f"probe:{kept}" in probe["volumes"]
    assert kept not in {each.partition(":")[0] for each in probe["tmpfs"]}


def test_dashboards_and_rules_are_mounted_where_they_are_looked_for() -> None:
    def mounted(service: str) -> dict[str, str]:
        parts = (volume.split(":") for volume in SERVICES[service]["volumes"])
        return {inside: source.removeprefix("./") for source, inside, *_ in parts}

    provider = yaml.safe_load((ROOT / "deploy/observability/grafana/dashboards.yaml").read_text())["providers"][0]
    assert mounted("grafana")[provider["options"]["path"]] == dashboards.FOLDER
    [rules] = yaml.safe_load((ROOT / "deploy/observability/prometheus.yml").read_text())["rule_files"]
    assert mounted("prometheus")[f"/etc/prometheus/{rules}"] == alerts.FILE


def test_every_service_has_a_limit_of_memory_and_a_full_version() -> None:
    for name, service in SERVICES.items():
        assert "mem_limit" in service, name
        if name not in OURS:
            assert re.fullmatch(r"[\w./-]+:v?\d+(\.\d+)+(-\w+)?", service["image"]), name


def test_what_is_mounted_is_there_and_is_yaml() -> None:
    for name, service in SERVICES.items():
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            if (ROOT / source).is_dir():
                assert volume.endswith(":ro"), name
            elif source.startswith("./"):
                assert yaml.safe_load((ROOT / source).read_text()), name
            else:
                assert source in DOCUMENT["volumes"], name


def test_servers_that_a_setting_names_are_services() -> None:
    for text in environment(OURS["topics"]).values():
        for host in re.findall(r"(?:@|//|^)([a-z]\w*):\d+", text):
            assert host in SERVICES


def test_prometheus_and_grafana_ask_services() -> None:
    prometheus = yaml.safe_load((ROOT / "deploy/observability/prometheus.yml").read_text())
    targets = [
        each for job in prometheus["scrape_configs"] for part in job["static_configs"] for each in part["targets"]
    ]
    grafana = yaml.safe_load((ROOT / "deploy/observability/grafana/datasources.yaml").read_text())
    targets += [source["url"].removeprefix("http://") for source in grafana["datasources"]]
    assert {target.partition(":")[0] for target in targets} <= {*SERVICES, "localhost"}


def collector_config() -> dict[str, dict[str, Any]]:
    """Return what the collector has of its files, which it merges."""
    merged: dict[str, dict[str, Any]] = {}
    for name in ("monitoring/otel-collector", "query-log/otel-query-log"):
        for part, body in yaml.safe_load((ROOT / f"k8s/components/{name}.yaml").read_text()).items():
            merged[part] = {**merged.get(part, {}), **body}
            if part == "service":
                pipelines = merged.setdefault("pipelines", {})
                assert not pipelines.keys() & body["pipelines"].keys()
                pipelines.update(body["pipelines"])
    return merged


def test_the_collector_uses_what_it_defines_and_gets_what_it_asks_for() -> None:
    config = collector_config()
    for pipeline in config["pipelines"].values():
        for part in ("receivers", "processors", "exporters"):
            assert set(pipeline[part]) <= config[part].keys()
    assert set(config["service"]["extensions"]) <= config["extensions"].keys()
    collector = SERVICES["otel-collector"]
    assert set(re.findall(r"\$\{env:(\w+)}", yaml.safe_dump(config))) == collector["environment"].keys()
    given = [argument.removeprefix("--config=") for argument in collector["command"]]
    mounted = dict(volume.removesuffix(":ro").split(":") for volume in collector["volumes"])
    assert list(mounted.values()) == given
    assert all((ROOT / path).is_file() for path in mounted)


def test_the_query_log_is_shipped_from_its_topic_in_the_group_that_may_read_it() -> None:
    receiver = collector_config()["receivers"]["kafka/query-log"]
    assert receiver["logs"] == {"topic": QUERY_LOG.name, "encoding": "json"}
    granted = {(right.kind, right.name) for right in rights.of_log_shipper()}
    assert granted == {("topic", QUERY_LOG.name), ("group", receiver["group_id"])}


def test_the_reader_of_docker_compose_takes_the_file() -> None:
    done = check(FILE)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["services"]
    assert found["embed"]["command"] == ["run", "embed"]
    assert found["embed"]["mem_limit"] == "2048m"
    for name in OURS:
        files = [Path(each["path"]).relative_to(ROOT).as_posix() for each in found[name]["env_file"]]
        assert files == ["deploy/compose.env", "rankstream.env"]  # of two that set the same the last one counts


@pytest.mark.parametrize("wrong", ["nonsense: 1", "healthcheck: {test: 7}", "volumes: [{type: nowhere}]"])
def test_that_reader_would_say_what_is_wrong(tmp_path: Path, wrong: str) -> None:
    file = tmp_path / compose.FILE
    file.write_text(f"services:\n  a:\n    image: a:1\n    {wrong}\n")
    done = check(file)
    assert done.returncode != 0
    assert "services.a" in done.stderr


def test_commands_of_the_page_name_what_there_is() -> None:
    text = (ROOT / "docs/deploy.md").read_text().partition("\n## Deploy\n")[2].partition("\n## ")[0]
    scaled = re.findall(r"--scale ([\w-]+)=\d", text)
    assert scaled
    assert set(scaled) <= SERVICES.keys()
    assert set(re.findall(r"--profile (\w+)", text)) == {
        profile for service in SERVICES.values() for profile in service.get("profiles", ())
    }
    paths = re.findall(r"(?:apply -k |rankstream ingest )([\w./-]+)", text)
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
    [port] = re.findall(r"KAFKA_BOOTSTRAP_SERVERS=localhost:(\d+)", text)
    assert f":-{port}}}:{port}" in SERVICES["kafka"]["ports"][0]
    versions = {f"{name} {version[1].lstrip('v').rpartition('.')[0]}" for name, version in CHECKED.items()}
    assert [version for version in versions if version not in " ".join(text.split())] == []
