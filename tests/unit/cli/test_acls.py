"""Rights as `rankstream acls` prints them."""

from __future__ import annotations

import shlex

import click
import pytest
import yaml
from click.testing import CliRunner

from deploy import strimzi
from streams.cli import acls, check
from streams.errors import ConfigurationError
from streams.processors import catalogue, rights, store_roles


def said(*arguments: str) -> str:
    done = CliRunner().invoke(acls.command, arguments, catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_each_right_of_each_user_is_a_command_of_kafka() -> None:
    lines = [shlex.split(line) for line in said().splitlines() if not line.startswith("#")]
    everyone = rights.of_everyone()
    assert len(lines) == sum(map(len, everyone.values()))
    [command] = [line for line in lines if "rankstream.replay-" in line]
    assert command[command.index("--allow-principal") :] == [
        "--allow-principal", "User:rankstream-replay", "--operation", "Read", "--operation", "Describe",
        "--group", "rankstream.replay-", "--resource-pattern-type", "prefixed",
    ]  # fmt: skip


def test_users_of_postgres_are_made_by_the_kind_of_their_work_or_one_by_one() -> None:
    lines = said("--format", "postgres").splitlines()
    assert [line for line in lines if line.startswith("GRANT ")] == [
        'GRANT rankstream_query TO "rankstream-owner";',
        *(f'GRANT rankstream_{role} TO "rankstream-{role}";' for role in ("reader", "writer", "operator", "gateway")),
    ]
    assert 'GRANT rankstream_writer TO "db-chunk";' in said(
        "--format", "postgres", "--processor", "chunk", "--principal", "db-{name}"
    )
    for wrong in (["--processor", "clients"], ["--principal", "{name}'; DROP"]):
        with pytest.raises(ConfigurationError):
            said("--format", "postgres", *wrong)


def test_every_processor_that_opens_postgres_has_a_role() -> None:
    storeless = [each.name for each in catalogue.ALL if store_roles.of_user(each.name) is None]
    assert storeless == ["extract", "extract-bulk", "log-questions", "log-replies"]


def test_whoever_a_user_is_to_kafka_can_be_said() -> None:
    text = said("--processor", "chunk", "--principal", "User:CN={name},O=Example Org")
    assert "--allow-principal 'User:CN=chunk,O=Example Org'" in text
    assert "embed" not in text
    with pytest.raises(ConfigurationError, match=r"--principal 'User:x' must have \{name}"):
        said("--principal", "User:x")
    with pytest.raises(ConfigurationError, match="there is no user 'chunky'; there are chunk, embed"):
        said("--processor", "chunky")


def test_strimzi_s_form_is_what_the_generated_users_have() -> None:
    [user] = [
        each
        for text in strimzi.files((), ()).values()
        for each in yaml.safe_load_all(text)
        if each and each.get("metadata", {}).get("name") == "rankstream-operator"
    ]
    printed = yaml.safe_load(said("--processor", "operator", "--format", "strimzi"))
    assert printed == {"authorization": user["spec"]["authorization"]}


@pytest.mark.parametrize("command", [acls.command, check.command], ids=["acls", "check"])
def test_the_help_names_every_user_that_is_no_processor(command: click.Command) -> None:
    told = "".join(CliRunner().invoke(command, ["--help"]).output.split())  # lines end within names, too
    assert [name for name in rights.OTHERS if name not in told] == []
