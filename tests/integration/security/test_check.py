"""`rankstream check` on servers that are well, and on such that are not."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from redis.asyncio import Redis

from streams import settings as names
from streams.adapters.redis_answers import connections
from streams.cli import checks
from streams.embedded import stack as stacks
from streams.gateways import servers
from streams.processors import rights
from tests.integration.security.broker import SecuredKafka, password_of
from tests.integration.security.conftest import until_known
from topics.catalogue import CHUNKS

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
async def environment(secured: SecuredKafka, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, str]]:
    """The settings of `chunk`, with its own login."""
    folder = tmp_path_factory.mktemp("checked")
    started = await stacks.start(folder, kafka=secured.at("login"))
    (folder / "password").write_text(password_of("chunk"))
    yield {
        names.DATA_DIR: str(folder / "none"),
        names.KAFKA: secured.at("login"),
        names.KAFKA_CA: str(secured.files.ca),
        names.KAFKA_MECHANISM: "SCRAM-SHA-512",
        names.KAFKA_USERNAME: "chunk",
        names.KAFKA_PASSWORD_FILE: str(folder / "password"),
        names.QDRANT: started.endpoints.qdrant,
        names.POSTGRES: started.endpoints.postgres,
        names.REDIS: started.endpoints.redis,
    }
    await started.stop()


@pytest.fixture(scope="module")
def operator(environment: dict[str, str]) -> dict[str, str]:
    """The settings of the operator."""
    file = Path(environment[names.KAFKA_PASSWORD_FILE]).with_name("operator")
    file.write_text(password_of("operator"))
    return {**environment, names.KAFKA_USERNAME: "operator", names.KAFKA_PASSWORD_FILE: str(file)}


def run(*arguments: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "streams.cli.main", *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def findings(said: str) -> dict[str, str]:
    """Return what was said of each check."""
    lines = said.partition("\n\n")[2].splitlines()
    return {line[: line.index("  ")]: line[line.index("  ") :].strip() for line in lines}


async def test_all_is_well_or_is_named(
    secured: SecuredKafka, environment: dict[str, str], operator: dict[str, str]
) -> None:
    code, said, complaints = run("check", "chunk", **environment)
    found = findings(said)
    assert (code, complaints) == (2, "")
    # The database is as it was made: empty.
    assert found.pop("postgres").startswith("wrong: migrations: 0001_stores is missing; ")
    assert found.pop("rights on postgres") == "skipped: its migrations come first"
    assert {state.partition(":")[0] for state in found.values()} == {"ok", "skipped"}
    assert [name for name, state in found.items() if state.startswith("skipped")] == [
        "language model",
        "reranker",
        "tokens",
        "telemetry",
    ]
    assert password_of("chunk") not in said

    # The operator prepares it, and all is well.
    assert run("topics", "apply", **operator)[0] == 0
    code, said, complaints = run("check", "chunk", **environment)
    assert (code, complaints, findings(said)["rights on postgres"]) == (0, "", "ok: as postgres")
    assert run("check", "operator", **operator)[0] == 0

    # A right that is taken away is named by check, and by the process itself, which does not start.
    lost = next(right for right in rights.of_everyone()["chunk"] if right.name == CHUNKS.name)
    lost = replace(lost, operations=("Write",))
    await secured.take("chunk", lost)
    await until_known(secured.as_user("chunk"), [lost], lacks=True)
    try:
        code, said, _ = run("check", "chunk", **environment)
        assert (code, findings(said)["rights on kafka"]) == (
            2,
            "wrong: chunk lacks Write on topic chunks: `rankstream acls`",
        )
        code, said, complaints = run("run", "chunk", **environment)
        assert (code, said) == (2, "")
        assert complaints.startswith(
            "rankstream: Kafka gives chunk no right to Write on topic chunks: `rankstream acls"
        )
    finally:
        await secured.grant("chunk", [lost])
        await until_known(secured.as_user("chunk"), [lost], lacks=False)


async def test_every_wrong_setting_is_a_line_and_what_can_be_reached_is_checked_nonetheless(
    environment: dict[str, str], tmp_path: Path
) -> None:
    wrong = {
        names.BROKER: "nats",
        names.HEALTH: "8080",
        names.QDRANT_KEY_FILE: str(tmp_path / "nothing"),
        names.PROFILES: str(tmp_path / "nowhere"),
    }
    code, said, complaints = run("check", "chunk", **{**environment, **wrong, names.REDIS: "redis://127.0.0.1:9/0"})
    found = findings(said)
    assert code == 2
    assert [line.split()[1].rstrip(":") for line in complaints.splitlines()] == [
        names.QDRANT_KEY_FILE,
        names.BROKER,
        names.HEALTH,
    ]
    assert found["kafka"].startswith("ok")
    assert found["redis"].startswith("failed: ")
    assert found["profiles"].startswith("wrong: ")
    # Each other command refuses them as well, one line each.
    code, _, complaints = run("status", **{**environment, **wrong})
    assert (code, len(complaints.splitlines())) == (2, 3)


# Nobody answers at port 1.
DOWN = {
    names.KAFKA: ("127.0.0.1:1", {"kafka", "topics", "rights on kafka"}),
    names.POSTGRES: ("postgresql://me:secret@127.0.0.1:1/db", {"postgres", "rights on postgres"}),
    names.QDRANT: ("http://127.0.0.1:1", {"qdrant"}),
    names.REDIS: ("redis://:secret@127.0.0.1:1/0", {"redis"}),
}


@pytest.mark.parametrize("server", DOWN)
async def test_a_server_that_is_down_is_no_wrong_setting(
    environment: dict[str, str], operator: dict[str, str], server: str
) -> None:
    assert run("topics", "apply", **operator)[0] == 0
    place, checked = DOWN[server]
    code, said, complaints = run("check", "chunk", **{**environment, server: place})
    found = findings(said)
    assert (code, complaints) == (1, ""), said
    assert {name for name, state in found.items() if not state.startswith(("ok", "skipped"))} == checked
    assert all(found[name].startswith("failed: ") and server in found[name] for name in checked)
    # Whoever needs it does not start, as before.
    if server in (names.KAFKA, names.POSTGRES):
        code, _, complaints = run("run", "chunk", **{**environment, server: place})
        assert (code, server in complaints) == (2, True)


async def test_a_server_that_answers_and_refuses_is_a_wrong_setting(
    environment: dict[str, str], operator: dict[str, str], tmp_path: Path
) -> None:
    assert run("topics", "apply", **operator)[0] == 0
    (tmp_path / "wrong").write_text("wrong")
    wrong = {
        names.KAFKA_PASSWORD_FILE: str(tmp_path / "wrong"),
        names.POSTGRES: environment[names.POSTGRES].replace("/rankstream", "/nowhere"),
        names.REDIS: environment[names.REDIS].replace("redis://", "redis://:wrong@"),
    }
    code, said, _ = run("check", "chunk", **{**environment, **wrong})
    states = {name: state.partition(":")[0] for name, state in findings(said).items()}
    assert code == 2
    asked = ("kafka", "topics", "rights on kafka", "postgres", "rights on postgres", "redis")
    assert {states[name] for name in asked} == {"wrong"}, said


async def test_redis_is_written_to_as_answers_are_and_nothing_stays(environment: dict[str, str]) -> None:
    pool = connections(environment[names.REDIS])
    client = Redis(connection_pool=pool)
    try:
        await servers.valkey_takes(environment[names.REDIS])
        await asyncio.sleep(0.01)
        assert await client.keys() == []
        # What answers need, and no more: neither PING nor DEL.
        await client.execute_command("ACL", "SETUSER", "keeper", "on", ">pw", "~answers:*", "+get", "+set", "+select")
        await client.execute_command("ACL", "SETUSER", "reader", "on", ">pw", "~*", "+get", "+ping", "+select")
        for user, state in (("keeper", checks.OK), ("reader", checks.WRONG)):
            url = environment[names.REDIS].replace("redis://", f"redis://{user}:pw@")
            found = replace(names.given({}), redis=url)
            made = await checks._one("redis", checks.Checks(found, [], [])._redis)
            assert made.state == state, made
            assert (names.REDIS in made.said) is (state == checks.WRONG)
    finally:
        await client.execute_command("ACL", "DELUSER", "keeper", "reader")
        await pool.aclose()
