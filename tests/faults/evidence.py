"""What a run leaves behind, as plain records: the ledger, the replies, the stores, the processes, the faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

LEGS = ("dense", "sparse", "fulltext", "qa", "graph")
RERANKED = "rerank"


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A version that was written to the ledger and then sent."""

    doc: str
    version: int
    op: str  # upsert or delete
    at: float  # seconds since the epoch
    delivered: bool = True  # false: the broker did not confirm it, so it may be there or not
    facts: frozenset[str] = frozenset()  # the words by which this version's texts are known
    chunks: frozenset[str] = frozenset()  # the ids that an offline rebuild gives
    planted: bool = False  # it belongs into a dead letter topic


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """A document status, as it came to the client."""

    doc: str
    version: int
    status: str  # searchable, deleted or failed
    at: float
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Applied:
    """One change of a document's live version, in the order of the database."""

    doc: str
    version: int


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What the stores hold of one document at the end."""

    doc: str
    version: int | None  # live; a deletion counts
    chunks: frozenset[str] = frozenset()  # live ones
    deleted: bool = False


@dataclass(frozen=True, kw_only=True)
class Letter:
    """A dead letter."""

    group: str
    topic: str
    partition: int
    offset: int
    error_class: str
    planted: bool  # the harness sent what cannot be read
    doc: str | None = None
    version: int | None = None


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question that was written to the ledger and then asked."""

    id: str
    doc: str  # the document that answers it
    at: float
    deadline: float


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A passage of an answer."""

    doc: str
    version: int
    facts: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the client surfaced for a question."""

    id: str
    at: float
    error: str | None = None  # its class
    degraded: bool = False
    reasons: tuple[str, ...] = ()
    legs: Mapping[str, str] = field(default_factory=dict)  # status by leg, or overloaded
    cached: bool = False
    passages: tuple[Shown, ...] = ()
    pressure: float = 0.0  # of the time since the question, in which somebody waited for a processor
    stall: float = 0.0  # seconds for which the client itself was held up after the deadline


@dataclass(frozen=True, kw_only=True)
class Fault:
    """From when to when something was broken, and what may be seen of it."""

    what: str
    begin: float
    end: float
    legs: frozenset[str] = frozenset()  # those that may be flagged
    answers: bool = False  # questions may end in an error, too
    certain: frozenset[str] = frozenset()  # those that must be flagged by every answer searched inside of it
    settle: float = 3.0  # seconds after its end in which it may still be seen
    in_flight: int = 0  # documents and questions on their way when it began


@dataclass(frozen=True, kw_only=True)
class Exit:
    """A process that ended."""

    process: str
    code: int
    expected: tuple[int, ...]
    seconds: float = 0.0  # from the signal
    within: float | None = None


@dataclass(frozen=True, kw_only=True)
class Size:
    """What a process held, before and after; only of those that lived through the scenario."""

    process: str
    rss: tuple[int, int]  # bytes
    fds: tuple[int, int]
    tasks: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Everything that the checker judges."""

    sent: tuple[Sent, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    applied: tuple[Applied, ...] = ()
    stored: Mapping[str, Stored] = field(default_factory=dict)  # by document
    texts: frozenset[str] = frozenset()  # chunk ids in Postgres
    points: frozenset[str] = frozenset()  # chunk ids in Qdrant
    letters: tuple[Letter, ...] = ()
    faultless: bool = False  # no fault was to be made
    redelivers: bool = False  # a fault made records come again: what was not yet acknowledged is repeated
    planted: int = 0  # unreadable records that were sent, each of which gives one dead letter
    asked: tuple[Asked, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    faults: tuple[Fault, ...] = ()
    held_up: tuple[Fault, ...] = ()  # what nobody broke: stores that said nothing for a while by themselves
    exits: tuple[Exit, ...] = ()
    sizes: tuple[Size, ...] = ()
    lag: Mapping[str, int] = field(default_factory=dict)  # records by processor, after the load
    secrets: tuple[str, ...] = ()  # where a secret was read in a log
    barriers: bool = True  # every barrier record came through
    takeovers: Mapping[str, float] = field(default_factory=dict)  # seconds, the worst by process
    takeover_bound: float | None = None
    own: tuple[str, ...] = ()  # what a scenario itself found wrong
    timed: tuple[str, ...] = ()  # promised times that were not kept

    @property
    def broken(self) -> tuple[Fault, ...]:
        """All that explains an answer that is less than it should be."""
        return self.faults + self.held_up
