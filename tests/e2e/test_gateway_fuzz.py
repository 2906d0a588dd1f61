"""The gateway under requests that are made of its own description: no answer breaks, and each is as it says."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from tests.gateway import serving
from tests.pipeline import Pipeline

EXAMPLES = 15  # a kind of request and phase
SECONDS = 200
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
    "unsupported_method",
    "ignored_auth",
)
# A question may give itself less time than an answer takes, and is then told so.
CONFIG = '[checks.not_a_server_error]\nexpected-statuses = ["2xx", "3xx", "4xx", "504"]\n'
ROOT = Path(__file__).parents[2]


async def test_made_up_requests_find_no_answer_that_breaks_its_description(pipeline: Pipeline, tmp_path: Path) -> None:
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG)
    async with serving(pipeline.settings) as front:
        key = await front.key("t-fuzz", "admin")
        fuzzing = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config)),
            *("run", f"{front.url}/openapi.json"),
            *("--header", f"Authorization: Bearer {key}", "--checks", ",".join(CHECKS)),
            *("--max-examples", str(EXAMPLES), "--seed", "7", "--phases", "examples,coverage,fuzzing"),
            *("--request-timeout", "20", "--generation-database", "none", "--no-color", "--max-failures", "5"),
            env={**os.environ, "SCHEMATHESIS_HOOKS": "tests.e2e.fuzz_hooks", "PYTHONPATH": str(ROOT)},
            cwd=tmp_path,  # it leaves a folder behind
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(SECONDS):
                said, _ = await fuzzing.communicate()
        finally:
            if fuzzing.returncode is None:
                fuzzing.kill()
                await fuzzing.wait()
    assert fuzzing.returncode == 0, said.decode(errors="replace")[-8000:]
    assert b"generated" in said or b"passed" in said
