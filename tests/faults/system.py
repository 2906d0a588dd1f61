"""Everything that a scenario works on: real servers behind proxies, processors as processes, a client, a ledger."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import redis.asyncio
from aiokafka import AIOKafkaProducer

from schemas import codec
from schemas.documents import DocumentStatus
from streams.adapters.migrations import migrate
from streams.embedded import stack as stacks
from streams.embedded.processes import Child, spawn
from streams.embedded.stack import Stack
from streams.errors import RankstreamError
from streams.gateways import lag
from streams.gateways.client import Client
from streams.gateways.tail import Tail
from tests.faults import embedder, stores
from tests.faults.embedder import Provider
from tests.faults.evidence import Evidence, Exit, Fault
from tests.faults.ledger import Ledger
from tests.faults.load import Load, Page
from tests.faults.processes import ANSWERING, FLAGGED, GROUPS, ROOT, Process, grown
from tests.faults.proxy import Proxy
from tests.faults.waiting import until
from tests.faults.witness import held_up
from topics.admin import apply
from topics.catalogue import DEAD_LETTERS, DOCUMENT_CHANGES, DOCUMENT_STATUS, document_key
from topics.topic import LARGEST_RECORD

log = logging.getLogger(__name__)

SESSION = 6.0  # seconds
TAKEOVER = 1.5 * SESSION + 3.0
GENERATION = "g1"
SECRETS = {
    "postgres": "s3cret-of-postgres-4711",
    "redis": "s3cret-of-valkey-4712",
    "qdrant": "s3cret-of-qdrant-4713",
    "embedder": "s3cret-of-embedder-4714",
}
KEY = "FAULTS_EMBEDDER_KEY"
# The general profile; its legs have longer, since a busy machine is not what a scenario is about.
PROFILE = """
name = "faults"
summary = "all legs"
legs = ["dense", "sparse", "fulltext", "qa", "graph"]
route_by_language = true
levels = ["document", "parent", "child"]
candidates = 100
rrf_k = 60
score = "relevance"
passages = 5
pinned = true
passage_chars = 3000
cut = "sentences"
budget = 5.0
legs_budget = 3.5
"""


class System:
    """The servers and processes of a run; made by `running`."""

    def __init__(self, folder: Path, stack: Stack, seed: int) -> None:
        self.folder = folder
        self.stack = stack
        self.seed = seed
        self.ledger = Ledger(folder / "ledger.sqlite")
        self.provider = Provider()
        at = stack.endpoints
        self.kafka = at.kafka
        self.proxies = {
            name: Proxy(name, urlsplit(url).port or 0, seed=seed)
            for name, url in (("qdrant", at.qdrant), ("postgres", at.postgres), ("redis", at.redis))
        }
        self.processes: dict[str, Process] = {}
        self.extra: list[Process] = []  # beside the standing ones, for one scenario
        self.client = Client(bootstrap=self.kafka)
        self.load: Load | None = None
        self.faults: list[Fault] = []
        self.takeovers: dict[str, float] = {}
        self.own: list[str] = []
        self.timed: list[str] = []
        self.planted = 0
        self.may_grow: set[str] = set()  # processes that were given more than any load gives them
        self.rates = (2.0, 1.0)  # documents and questions a second
        self.environment: dict[str, str] = {}
        self._receipts = Tail(self.kafka, DOCUMENT_STATUS, self._receipt)
        self._watching: asyncio.Task[None] | None = None
        self._witness: Child | None = None
        self._began = 0.0  # when the scenario did
        self._sizes: dict[str, tuple[int, int, int, int]] = {}
        self._letters_from: dict[object, int] = {}
        self._logs_from: dict[Path, int] = {}

    def _receipt(self, record: object) -> None:
        status = codec.decode(record.value, DocumentStatus)  # type: ignore[attr-defined]
        if self.load is not None:
            self.load.take(status)

    async def start(self) -> None:
        """Start all of it."""
        at = self.stack.endpoints
        await migrate(at.postgres)
        await apply(at.kafka)
        await stores.watch_versions(at.postgres)
        valkey = redis.asyncio.from_url(at.redis)
        await valkey.config_set("requirepass", SECRETS["redis"])
        await valkey.aclose()
        ports = {name: await proxy.start() for name, proxy in self.proxies.items()}
        await self.provider.start(self.folder / "embedder.log")
        models, profiles = self.folder / "models.toml", self.folder / "profiles"
        models.write_text(
            embedder.CONFIG.format(name=embedder.NAME, dimension=embedder.DIMENSION, url=self.provider.url, key=KEY)
        )
        profiles.mkdir()
        (profiles / "faults.toml").write_text(PROFILE)
        database = urlsplit(at.postgres)
        self.environment = {
            "KAFKA_BOOTSTRAP_SERVERS": self.kafka,
            "QDRANT_URL": f"http://127.0.0.1:{ports['qdrant']}",
            "QDRANT_API_KEY": SECRETS["qdrant"],
            "DATABASE_URL": f"postgresql://{database.username}:{SECRETS['postgres']}@127.0.0.1:{ports['postgres']}"
            f"{database.path}",
            "REDIS_URL": f"redis://:{SECRETS['redis']}@127.0.0.1:{ports['redis']}/0",
            "RANKSTREAM_SESSION_TIMEOUT": str(SESSION),
            "RANKSTREAM_MODELS": str(models),
            "RANKSTREAM_EMBEDDER": embedder.NAME,
            "RANKSTREAM_PROFILES": str(profiles),
            KEY: SECRETS["embedder"],
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self.processes = {name: self.process(name, members) for name, members in GROUPS.items()}
        # The first makes the generation; the others start at the same time.
        self.processes["chunk"].start()
        await self.processes["chunk"].ready()
        for name, process in self.processes.items():
            if name != "chunk":
                process.start()
        await asyncio.gather(*(process.ready() for process in self.processes.values()))
        await asyncio.gather(self.client.start(), self._receipts.start())
        self._watching = asyncio.create_task(self._watch())
        stores_at = {"postgres": at.postgres, "qdrant": at.qdrant, "redis": self.environment["REDIS_URL"]}
        stores_at["redis"] = stores_at["redis"].replace(f":{ports['redis']}/", f":{urlsplit(at.redis).port}/")
        asked = [part for store, url in stores_at.items() for part in (f"--{store}", url)]
        command = [sys.executable, "-m", "tests.faults.witness", "--out", self.folder / "held-up", *asked]
        self._witness = spawn("witness", command, log=self.folder / "witness.log", cwd=ROOT)

    def process(self, name: str, members: tuple[str, ...]) -> Process:
        """Return a process that is not started yet."""
        return Process(name, members, self.folder, self.environment)

    async def stop(self) -> None:
        """Stop all of it but the servers."""
        if self._watching is not None:
            self._watching.cancel()
        for proxy in self.proxies.values():
            proxy.set("pass")
        await asyncio.gather(
            *(process.stop() for process in [*self.processes.values(), *self.extra]), return_exceptions=True
        )
        if self._witness is not None:
            await self._witness.stop(5.0)
        for stop in (self.client.stop, self._receipts.stop, self.provider.stop):
            await stop()
        for proxy in self.proxies.values():
            await proxy.stop()
        self.ledger.close()

    async def _watch(self) -> None:
        """Start again what ended by itself, as an operator's platform does; its exit is noted."""
        while True:
            await asyncio.sleep(0.5)
            for process in self.processes.values():
                if process.lost():
                    log.warning("%s ended by itself with %s: %s", process.name, process.code, process.said()[-300:])
                    process.start()

    @asynccontextmanager
    async def fault(
        self,
        what: str,
        *,
        legs: Iterable[str] = (),
        answers: bool = False,
        certain: Iterable[str] = (),
        settle: float = 5.0,
    ) -> AsyncIterator[None]:
        """Note that something is broken inside the block; it begins once something is in flight."""
        assert self.load is not None
        await until(lambda: self.load.in_flight > 0, 5.0)  # type: ignore[union-attr]
        in_flight, begin = self.load.in_flight, time.time()
        row = self.ledger.fault(self.load.tenant, what, in_flight)
        try:
            yield
        finally:
            self.ledger.fault_over(row)
            self.faults.append(
                Fault(
                    what=what,
                    begin=begin,
                    end=time.time(),
                    legs=frozenset(legs),
                    answers=answers,
                    certain=frozenset(certain),
                    settle=settle,
                    in_flight=in_flight,
                )
            )

    @asynccontextmanager
    async def away(self, process: Process, what: str) -> AsyncIterator[None]:
        """Note that a process is away inside the block."""
        legs = FLAGGED.get(process.name, frozenset())
        async with self.fault(f"{process.name} {what}", legs=legs, answers=process.name in ANSWERING, settle=6.0):
            yield

    async def crash(self, process: Process) -> float:
        """Kill a process, start it again, wait until it has taken over, and return the seconds from the kill."""
        async with self.away(process, "killed"):
            began = time.time()
            await process.kill()
            process.start()
            took = await process.ready() - began
        self.takeovers[process.name] = max(took, self.takeovers.get(process.name, 0.0))
        return took

    async def begin(self, load: Load) -> None:
        """Begin a scenario: nothing of an earlier one counts."""
        self.load = load
        self._began = time.time()
        self.faults, self.takeovers, self.own, self.timed, self.planted = [], {}, [], [], 0
        self.may_grow = set()
        for process in [*self.processes.values(), *self.extra]:
            process.exits.clear()
        self.extra = []
        self._letters_from = dict(await stores.ends(self.kafka, *(topic.name for topic in DEAD_LETTERS)))
        self._logs_from = {file: file.stat().st_size for file in (self.folder / "logs").glob("*.log")}

    def measure(self) -> None:
        """Note what each process holds now: what it holds later is compared with that."""
        self._sizes = {name: process.size() for name, process in self.processes.items() if process.alive}

    async def quiesce(self, *, seconds: float = 90.0) -> bool:
        """Stop the load and wait until everything sent has come to its end; false when a barrier does not come through.

        A barrier is a page on each partition of the inbox, sent after all others.
        """
        load = self.load
        assert load is not None
        await load.stop()
        begun = time.monotonic()
        producer = AIOKafkaProducer(bootstrap_servers=self.kafka, acks="all", max_request_size=LARGEST_RECORD)
        await producer.start()
        try:
            barriers = await self._barriers(producer)
        finally:
            await producer.stop()
        through = await until(lambda: not any(doc in load.waiting for doc in barriers), seconds, pause=0.1)
        for _ in range(round(seconds)):
            behind = sum((await self.lag()).values())
            if not (load.waiting or behind) or time.monotonic() - begun > seconds:
                break
            await asyncio.sleep(0.5)
        return through

    async def _barriers(self, producer: AIOKafkaProducer) -> list[str]:
        load = self.load
        assert load is not None
        names = []
        for partition in range(DOCUMENT_CHANGES.partitions):
            page = Page(f"barrier{'abcd'[partition % 4]}", load.rng)
            change = page.next(load.tenant)
            load.note(change)
            key = document_key(change.tenant, change.source, change.doc_id)
            value = codec.encode(change)
            await producer.send_and_wait(DOCUMENT_CHANGES.name, value, key=key, partition=partition)
            self.ledger.delivered(load.tenant, change.doc_id, change.version)
            names.append(page.name)
        return names

    async def lag(self) -> dict[str, int]:
        """Return the records that each processor is behind by; what cannot be said counts as one."""
        try:
            measured = await lag.measure(self.kafka)
        except RankstreamError:
            return {"broker": 1}
        return {each.processor: 1 if each.records is None else each.records for each in measured}

    async def evidence(
        self, *, barriers: bool, takeover_bound: float | None = None, redelivers: bool = False
    ) -> Evidence:
        """Gather everything about the scenario."""
        load = self.load
        assert load is not None
        at = self.stack.endpoints
        for _ in range(20):  # what flips took out is collected a moment later
            stored, texts, applied, garbage = await stores.postgres(at.postgres, load.tenant)
            if not garbage:
                break
            await asyncio.sleep(0.25)
        points = await stores.qdrant(at.qdrant, f"rankstream-{GENERATION}", load.tenant)
        everyone = [*self.processes.values(), *self.extra]
        sizes = {name: process.size() for name, process in self.processes.items() if process.alive}
        return Evidence(
            sent=self.ledger.sent(load.tenant),
            receipts=tuple(load.receipts),
            applied=applied,
            stored=stored,
            texts=texts,
            points=points,
            letters=tuple(await stores.letters(self.kafka, self._letters_from)),  # type: ignore[arg-type]
            planted=self.planted,
            asked=self.ledger.asked(load.tenant),
            outcomes=tuple(load.outcomes),
            faults=tuple(self.faults),
            held_up=self._held_up(),
            exits=tuple(exit for process in everyone for exit in process.exits) + tuple(self._lost()),
            sizes=tuple(size for size in grown(self._sizes, sizes) if size.process not in self.may_grow),
            lag=await self.lag(),
            secrets=tuple(self._told()),
            barriers=barriers,
            takeovers=dict(self.takeovers),
            takeover_bound=takeover_bound,
            redelivers=redelivers,
            own=tuple(self.own),
            timed=tuple(self.timed),
        )

    def _held_up(self) -> tuple[Fault, ...]:
        """Return the times since the scenario began in which a store said nothing, asked past the proxies."""
        said = self.folder / "held-up"
        return held_up(said.read_text(), self._began) if said.exists() else ()

    def _lost(self) -> list[Exit]:
        return [
            Exit(process=process.name, code=process.code or 0, expected=())
            for process in self.processes.values()
            if not process.alive
        ]

    def _told(self) -> list[str]:
        """Return the logs in which a secret was written since the scenario began."""
        found = []
        for file in sorted((self.folder / "logs").glob("*.log")):
            with file.open("rb") as log_file:
                log_file.seek(self._logs_from.get(file, 0))
                text = log_file.read()
            found += [f"{file.name} ({name})" for name, secret in SECRETS.items() if secret.encode() in text]
        return found


@asynccontextmanager
async def running(folder: Path, seed: int) -> AsyncIterator[System]:
    """Start everything, and stop everything whatever happens."""
    stack = await stacks.start(folder / "servers", broker="kafka")
    try:
        system = System(folder, stack, seed)
        try:
            await system.start()
            yield system
        finally:
            await system.stop()
    finally:
        await stack.stop()
