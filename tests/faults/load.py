"""The load of one scenario: edits, deletions and re-creations of pages, and questions about them, at a steady rate."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable, Iterable

import msgspec

from schemas.documents import DocumentChange, DocumentStatus
from schemas.replies import LegReport, QueryReply
from streams.domain import admission
from streams.errors import RankstreamError
from streams.gateways import questions
from streams.gateways.client import Client
from tests.faults.evidence import Asked, Outcome, Receipt, Sent, Shown
from tests.faults.ledger import Ledger
from tests.faults.stores import rebuilt
from tests.faults.witness import Pressure

FACT = re.compile(r"fact-[a-z]+-[a-z0-9]+")
SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
DOCUMENTS = 60  # pages of a scenario's tenant
MOST_SECTIONS = 3
PATIENCE = 5.0  # seconds of a question
PROFILE = "faults"
HALT = 0.005  # seconds by which the client is held up that count


Repeat = Callable[[Asked, str], Awaitable[None]]


class Page:
    """A page and what its source would say next."""

    def __init__(self, name: str, rng: random.Random) -> None:
        self.name = name
        self.version = 0
        self.deleted = False
        self.sections: list[str] = []
        self.sending = asyncio.Lock()
        self._rng = rng
        self._texts = 0

    def next(self, tenant: str, *, delete: bool = False) -> DocumentChange:
        """Return its next version: an edit of one section, one more, one less, a deletion, or itself again."""
        self.version += 1
        self.deleted = delete
        fields = {"tenant": tenant, "source": "faults", "doc_id": self.name, "version": self.version}
        if delete:
            return DocumentChange(op="delete", **fields)
        kind = self._rng.choice(["edit", "edit", "more", "less"])
        if kind == "less" and len(self.sections) > 1:
            self.sections.pop(self._rng.randrange(len(self.sections)))
        elif kind == "more" and len(self.sections) < MOST_SECTIONS:
            self.sections.append(self._section())
        elif self.sections:
            self.sections[self._rng.randrange(len(self.sections))] = self._section()
        lead = f"The {self.name} handbook in its edition fact-{self.name}-e{self.version}."
        body = "\n\n".join(f"## Part {place}\n\n{text}" for place, text in enumerate(self.sections, start=1))
        content = f"# {self.name.title()} handbook\n\n{lead}\n\n{body}"
        return DocumentChange(title=f"{self.name.title()} handbook", content=content, **fields)

    def _section(self) -> str:
        self._texts += 1
        words = " ".join(self._rng.choice(SYLLABLES) + self._rng.choice(SYLLABLES) for _ in range(30))
        return f"It says fact-{self.name}-t{self._texts} of {self.name}: {words}."


class Load:
    """Sends and asks until stopped. Everything is in the ledger before it leaves."""

    def __init__(self, *, tenant: str, client: Client, ledger: Ledger, seed: int, generation: str) -> None:
        self.tenant = tenant
        self.client = client
        self.ledger = ledger
        self.rng = random.Random(seed)
        self.generation = generation
        self.outcomes: list[Outcome] = []
        self.receipts: list[Receipt] = []
        self.stalls: list[tuple[float, float]] = []  # when the client was held up, and for how long
        self.pressure = Pressure()
        names: set[str] = set()
        while len(names) < DOCUMENTS:
            names.add("".join(self.rng.choice(SYLLABLES) for _ in range(4)))
        self.pages = [Page(name, self.rng) for name in sorted(names)]
        self._open: dict[str, int] = {}  # the version whose receipt is missing, by page
        self._live: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._asking = 0
        self._watching: asyncio.Task[None] | None = None

    @property
    def in_flight(self) -> int:
        """Documents without a receipt and questions without an outcome."""
        return len(self._open) + self._asking

    @property
    def asking(self) -> int:
        return self._asking

    @property
    def waiting(self) -> dict[str, int]:
        """The newest version of each page whose receipt is missing."""
        return dict(self._open)

    def take(self, status: DocumentStatus) -> None:
        """Note a receipt."""
        if status.tenant != self.tenant:
            return
        receipt = Receipt(
            doc=status.doc_id, version=status.version, status=status.status, at=time.time(), reason=status.reason or ""
        )
        self.receipts.append(receipt)
        self.ledger.receipt(self.tenant, receipt)
        if status.status == "searchable":
            self._live.add(status.doc_id)
        elif status.status == "deleted":
            self._live.discard(status.doc_id)
        superseded = status.status == "failed" and status.version != self._open.get(status.doc_id)
        if not superseded and status.version >= self._open.get(status.doc_id, status.version + 1):
            del self._open[status.doc_id]

    def start(self, documents: float, asked: float, *, watch: bool = True) -> None:
        """Begin, at so many a second, or add so many to what runs."""
        self._loops += [
            asyncio.create_task(self._every(documents, self.edit)),
            asyncio.create_task(self._every(asked, self.ask)),
        ]
        if watch:
            self._watching = asyncio.create_task(self._watch())

    async def calm(self) -> None:
        """Send no more."""
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        self._loops.clear()

    async def stop(self) -> None:
        """Send no more, and wait for what was asked."""
        await self.calm()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=30.0)
        if self._watching is not None:
            self._watching.cancel()

    async def _every(self, rate: float, act: object) -> None:
        if rate <= 0:
            return
        following = time.monotonic()
        while True:
            following += self.rng.expovariate(rate)
            pause = following - time.monotonic()
            if pause > 0:
                await asyncio.sleep(pause)
            else:
                following = time.monotonic()  # what could not be sent in time is not made up for
                await asyncio.sleep(0)
            if len(self._tasks) < 600:
                self.go(act())  # type: ignore[operator]

    async def _watch(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.02)
            self.pressure.sample()
            if (halt := time.monotonic() - before - 0.02) > HALT:
                self.stalls.append((time.time(), halt))

    def go(self, work: object) -> None:
        """Run something beside the rest; `stop` waits for it."""
        task = asyncio.ensure_future(work)  # type: ignore[call-overload]
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def edit(self, page: Page | None = None, *, delete: bool | None = None) -> None:
        """Send the next version of a page."""
        page = page or self.rng.choice(self.pages)
        async with page.sending:
            if delete is None:
                delete = page.version > 0 and not page.deleted and self.rng.random() < 0.12
            await self.send(page.next(self.tenant, delete=delete))

    def note(self, change: DocumentChange, *, planted: bool = False) -> None:
        """Write a version to the ledger."""
        sent = Sent(
            doc=change.doc_id,
            version=change.version,
            op=change.op,
            at=time.time(),
            facts=frozenset(FACT.findall(f"{change.title}\n{change.content}".lower())),
            chunks=frozenset() if planted else rebuilt(change, self.generation),
            planted=planted,
        )
        self.ledger.will_send(self.tenant, sent)
        if not planted:
            self._open[change.doc_id] = max(change.version, self._open.get(change.doc_id, -1))

    async def send(self, change: DocumentChange) -> None:
        """Write a version to the ledger and publish it."""
        self.note(change)
        try:
            await self.client.publish(change)
        except RankstreamError:
            return  # it may be there or not: the ledger says so
        self.ledger.delivered(self.tenant, change.doc_id, change.version)

    async def ask(self, *, patience: float = PATIENCE, repeat: Repeat | None = None) -> None:
        """Ask about a page and note what came of it; `repeat` sends the question's record again."""
        doc = self.rng.choice(sorted(self._live) or [page.name for page in self.pages])
        text = f"What is {doc}?"
        cache = repeat is None and self.rng.random() < 0.25
        at = time.time()
        question = Asked(id=questions.new_id(at), doc=doc, at=at, deadline=at + patience)
        self.ledger.will_ask(self.tenant, question, text)
        self._asking += 1
        if repeat is not None:
            self.go(repeat(question, text))
        try:
            reply = await self.client.ask(
                text,
                tenant=self.tenant,
                query_id=question.id,
                deadline=question.deadline,
                profile=PROFILE,
                cache=cache,
            )
        except RankstreamError as error:
            self.outcomes.append(Outcome(id=question.id, at=time.time(), error=f"raised {type(error).__name__}"))
            return
        finally:
            self._asking -= 1
        self.outcomes.append(outcome_of(reply, question, self.stalls, pressure=self.pressure.share(at)))
        self.ledger.outcome(self.tenant, question.id, time.time(), msgspec.json.encode(reply).decode())


def outcome_of(
    reply: QueryReply, question: Asked, stalls: Iterable[tuple[float, float]], *, pressure: float
) -> Outcome:
    """Return what the checker reads of a reply that has just come."""
    now = time.time()
    return Outcome(
        id=question.id,
        at=now,
        error=reply.error.error_class if reply.error else None,
        degraded=reply.degraded,
        reasons=reply.reasons,
        legs={leg: status_of(report) for leg, report in reply.legs.items()},
        cached=reply.cache == "hit",
        passages=tuple(
            Shown(doc=each.doc_id, version=each.version, facts=frozenset(FACT.findall(each.text.lower())))
            for each in reply.passages
        ),
        pressure=pressure,
        stall=sum(halt for at, halt in stalls if question.deadline <= at <= now + 0.1),
    )


def status_of(report: LegReport) -> str:
    """Return a leg's status; one that refused the question for lack of time is `overloaded`, not `error`."""
    return admission.REASON if report.reason == admission.REASON else report.status
