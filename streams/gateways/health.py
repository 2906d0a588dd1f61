"""Health over HTTP: `/livez` says whether a restart is needed, `/readyz` whether the processors work."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aiohttp import web

from streams.domain.vitals import Vitals, stuck, unready
from streams.errors import ConfigurationError

Judge = Callable[[Vitals], tuple[str, ...]]


class Health:
    """Answers with 200, or with 503 and the reasons by processor; a blocked event loop does not answer at all."""

    def __init__(self, vitals: Callable[[], Sequence[Vitals]], *, host: str, port: int) -> None:
        self._vitals = vitals
        self._host, self._port = host, port
        app = web.Application()
        app.router.add_get("/livez", self._live)
        app.router.add_get("/readyz", self._ready)
        self._runner = web.AppRunner(app, access_log=None)

    async def start(self) -> int:
        """Listen, and return the port; raise ConfigurationError where that is not possible."""
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            await self._runner.cleanup()
            raise ConfigurationError(
                f"RANKSTREAM_HEALTH: cannot listen on {self._host}:{self._port}: {error.strerror}; name another address"
            ) from None
        port: int = self._runner.addresses[0][1]
        return port

    async def stop(self) -> None:
        """Stop listening."""
        await self._runner.cleanup()

    async def _live(self, _: web.Request) -> web.Response:
        return self._answer(stuck, starting=True)

    async def _ready(self, _: web.Request) -> web.Response:
        return self._answer(unready, starting=False)

    def _answer(self, judge: Judge, *, starting: bool) -> web.Response:
        vitals = self._vitals()
        problems = {each.processor: list(found) for each in vitals if (found := judge(each))}
        well = not problems if vitals else starting
        body = {"ok": well, "processors": [each.processor for each in vitals], "problems": problems}
        return web.json_response(body, status=200 if well else 503)
