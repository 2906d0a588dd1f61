"""The broker of docker-compose.yml: its very variables, as the image turns them into settings, start Apache Kafka."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from pathlib import Path

import pytest
import yaml

from streams.embedded import kafka
from streams.embedded.ports import Ports
from tests import brokers
from topics import admin
from topics.catalogue import ALL

ROOT = Path(__file__).parents[2]
NOT_SETTINGS = {"CLUSTER_ID", "KAFKA_HEAP_OPTS"}  # of the image's scripts, not of the broker


def compose() -> dict[str, str]:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    given = services["kafka"]["environment"]
    return {name: re.sub(r"\$\{\w+:-([^}]*)}", r"\1", str(value)) for name, value in given.items()}


def cluster() -> dict[str, str]:
    [server] = [
        each
        for each in yaml.safe_load_all((ROOT / "k8s/components/servers/kafka.yaml").read_text())
        if each["kind"] == "StatefulSet"
    ]
    return {each["name"]: each["value"] for each in server["spec"]["template"]["spec"]["containers"][0]["env"]}


def settings(variables: dict[str, str]) -> dict[str, str]:
    """Return the settings of the broker, as the image makes them of its variables."""
    return {
        name.removeprefix("KAFKA_").lower().replace("_", "."): value
        for name, value in variables.items()
        if name not in NOT_SETTINGS
    }


@pytest.mark.parametrize("variables", [compose(), cluster()], ids=["compose", "servers"])
async def test_the_broker_starts_with_its_variables_and_is_reached_by_each_listener(
    variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jars = await brokers.jars()
    ports = Ports(tmp_path)
    here = {number: ports.take(number) for number in ("9092", "9093", "9094")}

    def properties(data: Path, *, port: int, controller_port: int) -> str:
        found = {**settings(variables), "log.dirs": str(data)}
        for name in ("listeners", "advertised.listeners", "controller.quorum.voters"):
            found[name] = re.sub(r":(9\d{3})\b", lambda match: f":{here[match[1]]}", found[name])
            found[name] = re.sub(r"//:", "//127.0.0.1:", found[name].replace("kafka:", "127.0.0.1:"))
        return "".join(f"{name}={value}\n" for name, value in found.items())

    monkeypatch.setattr(kafka, "properties", properties)
    server = await kafka.start(
        tmp_path, jars=jars, port=here["9092"], controller_port=here["9093"], log=tmp_path / "log"
    )
    try:
        advertised = re.findall(r":(9\d{3})\b", settings(variables)["advertised.listeners"])
        for number in advertised:
            # A client goes on with the address that the broker tells it: an answer came by that one.
            missing = await admin.check(f"127.0.0.1:{here[number]}")
            assert {difference.topic for difference in missing} == {topic.name for topic in ALL}
    finally:
        await server.child.stop(10)
        ports.release()


@pytest.mark.parametrize("variables", [compose(), cluster()], ids=["compose", "servers"])
def test_the_id_of_the_cluster_is_one(variables: dict[str, str]) -> None:
    assert len(urlsafe_b64decode(variables["CLUSTER_ID"] + "==")) == 16


def test_both_differ_in_where_they_listen_alone() -> None:
    def rest(variables: dict[str, str]) -> dict[str, str]:
        return {name: value for name, value in variables.items() if not re.search("LISTENER|VOTERS|LOG_DIRS", name)}

    assert rest(compose()) == rest(cluster())
