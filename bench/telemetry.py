"""telemetry: what traces, metrics and logs cost a question, in turns with nothing of them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from bench import corpus, system
from bench.figures import Figure, Promise, median, percentile
from streams.errors import RankstreamError
from streams.gateways.client import Client
from streams.telemetry import signals
from streams.telemetry.otel import Otel

CHUNKS = 500
ROUNDS = 10
TURN = 20  # questions in a row on one side
UNSEEN = 2  # of them, after each switch
CLIENTS = 4
BUSY = ("overloaded", "no reply", "timeout")  # a machine that others use; such questions are not counted
PROMISE = Promise(bound=1.05)
SIDES: dict[str, float | None] = {"off": None, "on": 1.0, "on, a tenth traced": 0.1}
# A collector that takes everything, in a process of its own as it is in life.
SINK = """
import http.server
class Sink(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sink)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


async def measure() -> list[Figure]:
    """Ask the same kind of questions on every side, in turns whose order changes."""
    asked = corpus.questions()
    with _sink() as url:
        async with system.running() as running, _sides(url) as sides:
            chunks = await running.fill(CHUNKS)
            alone: dict[str, list[float]] = {name: [] for name in sides}
            together: dict[str, list[float]] = {name: [] for name in sides}
            worked: dict[str, list[float]] = {name: [] for name in sides}
            for number in range(ROUNDS + 1):
                for place in range(len(sides)):
                    name = list(sides)[(number + place) % len(sides)]
                    signals.install(sides[name])
                    began = time.process_time()
                    one = await _turn(running.client, asked, clients=1)
                    many = await _turn(running.client, asked, clients=CLIENTS)
                    # Before the flush: while it waits, processors that have nothing to do poll on.
                    spent = (time.process_time() - began) * 1000 / (len(one) + len(many) + (1 + CLIENTS) * UNSEEN)
                    signals.install(None)
                    if (backend := sides[name]) is not None:
                        await asyncio.to_thread(backend.flush)  # so that nothing of it falls into the next turn
                    if number:  # the first round warms up
                        alone[name] += one
                        together[name] += many
                        worked[name].append(spent)
    return [
        *_ratios("one question at a time", alone, f"{chunks} chunks"),
        *_ratios(f"{CLIENTS} clients", together, f"{chunks} chunks"),
        *_work(worked),
    ]


def _ratios(how: str, took: dict[str, list[float]], note: str) -> Iterator[Figure]:
    off = median(took["off"])
    for name, values in took.items():
        if name == "off":
            continue
        said = f"p50 {median(values):.1f} / {off:.1f} ms, p95 {percentile(values, 0.95):.1f} / "
        said += f"{percentile(took['off'], 0.95):.1f} ms, {len(values)} questions a side, {note}"
        promise = PROMISE if name == "on" and how.startswith("one") else None
        yield Figure(name=f"{how}: {name} / off, p50", value=median(values) / off, unit="×", promise=promise, note=said)


def _work(worked: dict[str, list[float]]) -> Iterator[Figure]:
    """Yield what a question costs all processors, the client and the exports together."""
    off = median(worked["off"])
    for name in [name for name in worked if name != "off"]:
        mine = median(worked[name])
        note = f"median of turns, {mine:.1f} / {off:.1f} ms"
        yield Figure(name=f"processor time a question: {name} / off", value=mine / off, unit="×", note=note)


async def _turn(client: Client, asked: Iterator[str], *, clients: int) -> Sequence[float]:
    took: list[float] = []

    async def one() -> None:
        for number in range(TURN // clients + UNSEEN):
            text = next(asked)
            began = time.perf_counter()
            reply = await client.ask(text, tenant=corpus.TENANT, cache=False)
            if reply.error is not None and reply.error.error_class not in BUSY:
                raise RankstreamError(f"{text}: {reply.error.message}")
            if number >= UNSEEN and reply.error is None:
                took.append((time.perf_counter() - began) * 1000)

    await asyncio.gather(*(one() for _ in range(clients)))
    return took


@asynccontextmanager
async def _sides(url: str) -> AsyncIterator[dict[str, Otel | None]]:
    # Exported four times as often as in life, so that each turn pays for its own spans.
    sides = {
        name: None if share is None else Otel(url, service="bench", sample=share, traces_every=500)
        for name, share in SIDES.items()
    }
    try:
        yield sides
    finally:
        signals.install(None)
        for backend in filter(None, sides.values()):
            await asyncio.to_thread(backend.close, 5.0)


@contextmanager
def _sink() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-c", SINK], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.kill()
