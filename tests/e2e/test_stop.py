"""`up` ends when told to, also in the middle of its work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_up_stops_while_it_indexes_and_leaves_nothing_running(tmp_path: Path, how: signal.Signals) -> None:
    output = tmp_path / "output"
    with output.open("wb") as into:
        process = subprocess.Popen(
            [sys.executable, "-m", "streams.cli.main", "up"],
            env={**os.environ, "RANKSTREAM_DATA": str(tmp_path / "data")},
            stdout=into,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        until = time.monotonic() + 90
        while " of 46" not in output.read_text(errors="replace") and time.monotonic() < until:
            assert process.poll() is None, output.read_text(errors="replace")
            time.sleep(0.1)
        time.sleep(0.5)
        assert "is up" not in output.read_text(errors="replace"), "the signal must come while it indexes"
        begun = time.monotonic()
        process.send_signal(how)
        process.wait(timeout=30)
        assert time.monotonic() - begun < 12, output.read_text(errors="replace")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    left = subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True, check=False)
    assert left.stdout == "", output.read_text(errors="replace")
