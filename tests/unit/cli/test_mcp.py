"""rankstream mcp, rankstream query-log: what is wrong with their arguments."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from streams.cli.main import rankstream

KEY = "rsk_" + "0" * 12 + "_" + "A" * 43


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        (["mcp"], {}, "--tenant is missing"),
        (["mcp", "--tenant", "acme"], {"RANKSTREAM_API_KEY": KEY}, "leave out --tenant and --agent"),
        (["mcp", "--tenant", "Not A Tenant"], {}, "tenant"),
        (["query-log", "sample", "--since", "yesterday", "--out", "x"], {}, "must be a number and s, m, h or d"),
        (["query-log", "sample"], {}, "--out"),
        (["query-log", "sample", "--n", "0", "--out", "x"], {}, "--n"),
        (["query-log", "sample", "--out", "x"], {}, "KAFKA_BOOTSTRAP_SERVERS is not set"),
    ],
)
def test_a_wrong_argument_is_named_before_anything_is_opened(
    arguments: list[str], environment: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    for name in ("KAFKA_BOOTSTRAP_SERVERS", "DATABASE_URL", "RANKSTREAM_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    environment = {"RANKSTREAM_DATA": str(tmp_path), **environment}
    result = CliRunner().invoke(rankstream, arguments, env=environment)
    told = result.output + str(result.exception)
    assert result.exit_code != 0
    assert said in told
    assert KEY not in told
