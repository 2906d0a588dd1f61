"""What the README and docs/ show is run: `make run`, every command, the Python examples, and Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from streams.embedded.processes import free_port
from streams.processors import table

ROOT = Path(__file__).parents[2]
PAGES = {path: path.read_text() for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
README = PAGES[ROOT / "README.md"]
BIN = Path(sys.executable).parent


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


class Run:
    """A running `make run`, with data of its own."""

    def __init__(self, folder: Path) -> None:
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.endswith("_URL")},
            "RANKSTREAM_DATA": str(folder / "data"),
            "PATH": f"{BIN}:{os.environ['PATH']}",
        }
        self.environment.pop("KAFKA_BOOTSTRAP_SERVERS", None)
        self.gateway = f"127.0.0.1:{free_port()}"
        self.environment["RANKSTREAM_HTTP"] = self.gateway
        self.output = folder / "output"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                ["make", "run"],
                cwd=ROOT,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_for(self, text: str, seconds: float) -> str:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if text in (said := self.output.read_text(errors="replace")):
                return said
            if self.process.poll() is not None:
                break
            time.sleep(0.2)
        pytest.fail(f"`make run` did not say {text!r}:\n{self.output.read_text(errors='replace')}")

    def shell(self, script: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    running = Run(tmp_path_factory.mktemp("readme"))
    try:
        yield running
    finally:
        if running.process.poll() is None:
            os.killpg(running.process.pid, signal.SIGKILL)
            running.process.wait()


def test_make_run_indexes_the_demonstration_and_answers(run: Run) -> None:
    said = run.wait_for("Ctrl-C", 180)
    assert "Error E1042 when exporting to CSV" in said
    assert "exports/csv.md" in said
    assert "billing/refund-policy.md" in said
    assert "relay/ports.md" in said
    assert "rankstream ask" in said
    said = run.wait_for("curl", 10)
    [line] = [line.strip() for line in said.splitlines() if line.strip().startswith("curl")]
    assert f"http://{run.gateway}/v1/query" in line
    assert '"passages":[' in run.shell(line.replace("your question", "Can I get my money back?"))


COMMANDS = [block for text in PAGES.values() for block in blocks("bash", text) if "rankstream " in block]


@pytest.mark.parametrize("block", COMMANDS)
def test_the_commands_of_the_pages_work(run: Run, block: str, tmp_path: Path) -> None:
    script = block.replace(". .venv/bin/activate\n", "").replace("127.0.0.1:8400", run.gateway)
    for folder in ("notes", "profiles", "sample", "agent.key"):
        script = script.replace(f"/tmp/{folder}", str(tmp_path / folder))
    said = run.shell(script)
    if "refund-policy" in block:
        assert "Refund policy" in said
    if "lockers.md" in block:
        assert "five euro" in said
        assert "deleted" in said
    if "rankstream probe" in block:
        assert '"outcome": "passed"' in said
        assert "nothing to look at" in said
    if "curl" in block:
        assert said.count("south-gate") >= 3
        assert '"status":"deleted"' in said
        assert "revoked; it opens nothing after 2 s" in said


def test_the_python_example_works(run: Run, tmp_path: Path) -> None:
    (example,) = blocks("python")
    (tmp_path / "example.py").write_text(example)
    said = run.shell(f"{sys.executable} {tmp_path / 'example.py'}")
    assert said.splitlines()[0] == "searchable"
    assert "south-gate" in said


@pytest.mark.parametrize("number", range(2))
def test_the_examples_of_the_clients_page_work(run: Run, tmp_path: Path, number: int) -> None:
    example = blocks("python", PAGES[ROOT / "docs/clients.md"])[number]
    (tmp_path / "example.py").write_text(example)
    said = run.shell(f"{sys.executable} {tmp_path / 'example.py'}")
    assert ("The gate opens at six" if number == 0 else "Refund policy") in said


def test_the_command_that_the_readme_gives_to_agents_answers(run: Run) -> None:
    (server,) = (each["mcpServers"]["rankstream"] for each in map(json.loads, blocks("json")) if "command" in str(each))
    initialize = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "readme", "version": "1"}}
    call = {"name": "search", "arguments": {"query": "Can I get my money back?"}}
    messages = [
        {"id": 1, "method": "initialize", "params": initialize},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": call},
    ]
    written = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    # It answers what it was asked before its input ended.
    command = f"{sys.executable} -m streams.cli.main {' '.join(server['args'])}"
    said = run.shell(f"(printf '%s' {shlex.quote(written)}; sleep 8) | {command}")
    assert "Refund policy" in said


def test_ctrl_c_stops_everything_within_ten_seconds(run: Run) -> None:
    begun = time.monotonic()
    os.killpg(run.process.pid, signal.SIGINT)
    run.process.wait(timeout=15)
    assert time.monotonic() - begun < 10
    left = subprocess.run(
        ["pgrep", "-f", run.environment["RANKSTREAM_DATA"]], capture_output=True, text=True, check=False
    )
    assert left.stdout == ""


def test_the_table_of_processors_is_up_to_date() -> None:
    page = table.PAGE.read_text()
    assert table.rendered(page) == page, "run `python -m streams.processors.table --write`"


def test_modules_that_the_pages_name_are_there() -> None:
    for text in PAGES.values():
        for path in re.findall(r"`(streams/[\w./]+|topics/[\w./]+)`", text):
            assert (ROOT / path).exists(), path
