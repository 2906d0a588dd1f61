"""Wrong arguments of `keys`, `mcp` and `probe`: one line that names the option, exit 2, and nothing is done."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from streams.cli.main import rankstream
from streams.errors import ConfigurationError

CREATE = ("keys", "create", "--tenant", "acme")
PROBE = ("probe", "--key-file", "KEY", "--url")
AWAY = {"KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9", "DATABASE_URL": "postgresql://127.0.0.1:9/x"}


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("keys", "create", "--tenant", "Acme!"), "--tenant"),
        ((*CREATE, "--role", "root"), "--role"),
        ((*CREATE, "--agent", "x y"), "--agent"),
        ((*CREATE, "--role", "write", "--agent", "bot"), "--role"),
        ((*CREATE, "--name", "a\x1b[2Jb"), "--name"),
        ((*CREATE, "--name", "two\nlines"), "--name"),
        ((*CREATE, "--name", "x" * 201), "--name"),
        (("keys", "list", "--tenant", "A B"), "--tenant"),
        (("mcp", "--tenant", "A B"), "--tenant"),
        (("mcp", "--tenant", "acme", "--agent", "x y"), "--agent"),
        (("probe", "--tenant", "A B"), "--tenant"),
        (("probe", "--tenant", ""), "--tenant"),
        ((*PROBE, "nonsense"), "--url"),
        ((*PROBE, "ftp://x"), "--url"),
        ((*PROBE, "http://127.0.0.1:99999"), "--url"),
        ((*PROBE, "http://127.0.0.1:x"), "--url"),
        ((*PROBE, "http://"), "--url"),
        ((*PROBE, "http://a b"), "--url"),
        (("probe", "--url", "http://127.0.0.1:9", "--key-file", "EMPTY"), "--key-file"),
        (("probe", "--url", "http://127.0.0.1:9", "--key-file", "TWO"), "--key-file"),
        (("probe", "--url", "http://127.0.0.1:9", "--key-file", "NONE"), "--key-file"),
    ],
)
def test_a_wrong_argument_is_one_line_that_names_the_option_and_nothing_is_done(
    tmp_path: Path, arguments: tuple[str, ...], option: str
) -> None:
    for name, text in (("KEY", "rsk_x\n"), ("EMPTY", "\n"), ("TWO", "rsk_x\nrsk_y\n")):
        (tmp_path / name).write_text(text)
    given = [str(tmp_path / each) if each in ("KEY", "EMPTY", "TWO", "NONE") else each for each in arguments]
    data = tmp_path / "data"
    result = CliRunner().invoke(rankstream, given, env={**AWAY, "RANKSTREAM_DATA": str(data)})
    assert isinstance(result.exception, ConfigurationError), result.output  # one line and exit 2: test_main.py
    assert str(result.exception).startswith(option)
    assert result.output == ""
    assert not (data / "probe.jsonl").exists()
