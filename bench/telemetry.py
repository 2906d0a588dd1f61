"""telemetry: what traces, metrics and logs cost a question, in turns with nothing of them."""

from __future__ import annotations

import asyncio
import random
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
RESAMPLES = 1_000  # of the rounds, for an interval
TURN = 60  # questions in a row on one side
UNSEEN = 2  # of them, after each switch
CLIENTS = 4
BUSY = ("overloaded", "no reply", "timeout")  # a machine that others use; such questions are not counted
PROMISE = Promise(bound=1.05)
SIDES: dict[str, float | None] = {"off": None, "on": 1.0, "on, a tenth traced": 0.1}
Turns = dict[str, list[Sequence[float]]]  # a value of each question, by side and turn
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
            alone: Turns = {name: [] for name in sides}
            together: Turns = {name: [] for name in sides}
            worked: Turns = {name: [] for name in sides}
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
                        alone[name].append(one)
                        together[name].append(many)
                        worked[name].append([spent])
    return [
        *_ratios("one question at a time", alone, f"{chunks} chunks"),
        *_ratios(f"{CLIENTS} clients", together, f"{chunks} chunks"),
        *_work(worked),
    ]


def _ratios(how: str, took: Turns, note: str) -> Iterator[Figure]:
    off = _flat(took["off"])
    for name in [name for name in took if name != "off"]:
        mine = _flat(took[name])
        said = f"{_between(took[name], took['off'])}, p50 {median(mine):.1f} / {median(off):.1f} ms, p95 "
        said += f"{percentile(mine, 0.95):.1f} / {percentile(off, 0.95):.1f} ms, {len(mine)} questions a side, {note}"
        promise = PROMISE if name == "on" and how.startswith("one") else None
        yield Figure(
            name=f"{how}: {name} / off, p50", value=median(mine) / median(off), unit="×", promise=promise, note=said
        )


def _work(worked: Turns) -> Iterator[Figure]:
    """Yield what a question costs all processors, the client and the exports together."""
    off = median(_flat(worked["off"]))
    for name in [name for name in worked if name != "off"]:
        mine = median(_flat(worked[name]))
        note = f"{_between(worked[name], worked['off'])}, median of turns, {mine:.1f} / {off:.1f} ms"
        yield Figure(name=f"processor time a question: {name} / off", value=mine / off, unit="×", note=note)


def _between(on: Sequence[Sequence[float]], off: Sequence[Sequence[float]]) -> str:
    """Return between which ratios of medians 95 % lie when rounds, each with both its turns, are drawn again."""
    chance = random.Random(0)
    ratios = []
    for _ in range(RESAMPLES):
        rounds = [chance.randrange(len(on)) for _ in on]
        ratios.append(
            median(_flat([on[number] for number in rounds])) / median(_flat([off[number] for number in rounds]))
        )
    return f"95 % in {percentile(ratios, 0.025):.3f}–{percentile(ratios, 0.975):.3f}"


def _flat(turns: Sequence[Sequence[float]]) -> list[float]:
    """Return the values of all turns."""
    return [value for turn in turns for value in turn]


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
    # As in life: spans go out every two seconds, of which a turn takes ten, so a turn pays for nearly all of its own.
    sides = {name: None if share is None else Otel(url, service="bench", sample=share) for name, share in SIDES.items()}
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
