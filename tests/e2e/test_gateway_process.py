"""`rankstream run gateway`: a process that is watched, and told to stop."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import httpx
import pytest

from streams.embedded.processes import free_port
from tests.pipeline import Pipeline


async def test_it_is_watched_and_told_to_stop_it_says_so_while_it_still_serves_and_then_ends(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    health, at = f"127.0.0.1:{free_port()}", pipeline.settings
    places = {"KAFKA_BOOTSTRAP_SERVERS": at.kafka, "DATABASE_URL": at.postgres, "RANKSTREAM_DATA": str(tmp_path)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "streams.cli.main", "run", "gateway"),
        env={**os.environ, **places, "RANKSTREAM_HEALTH": health, "RANKSTREAM_HTTP": "127.0.0.1:0"},  # type: ignore[dict-item]
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(60), httpx.AsyncClient() as http:
            said = ""
            while "running: gateway" not in said:
                said += (await process.stderr.readline()).decode() or pytest.fail(said)
            [url] = re.findall(r"gateway: (http://[\d.:]+)/v1/query", said)
            assert (await http.get(f"{url}/readyz")).json() == {"ok": True, "problems": []}
            assert (await http.get(f"http://{health}/readyz")).json()["processors"] == ["gateway"]
            process.terminate()
            while (leaving := await http.get(f"{url}/readyz")).status_code == 200:
                pass
            assert leaving.json() == {"ok": False, "problems": ["stopping"]}
            assert (await http.get(f"http://{health}/readyz")).json()["problems"] == {"gateway": ["stopping"]}
            assert (await http.get(f"{url}/v1/status")).status_code == 401  # and requests are served
        rest = await asyncio.wait_for(process.stderr.read(), 15)
        assert (await process.wait(), rest.decode().splitlines()[-1]) == (0, "stopped")
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
