"""Dead letters: what their headers say, which of them are still open, and what a re-driven record carries.

A letter is one record that died at one stage. A crash may write it twice, and re-reading a topic may make it die again:
only marks that came after it settle it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from schemas import dead_letters
from schemas.dead_letters import Settled

State = Literal["open", "parked", "redriven", "discarded"]
STATES: tuple[State, ...] = get_args(State)
WAITING: tuple[State, ...] = ("open", "parked")  # somebody has to do something about it

UNKNOWN = "unknown"  # stage or class of a record that somebody else put there
MOST_DEATHS = 100  # remembered by a record; there are fewer pairs of stage and class
GROUP_PREFIX = "rankstream."

Headers = Sequence[tuple[str, bytes | None]]

# What a dead letter has beside the record that died.
_ADDED = {dead_letters.ERROR_CLASS, dead_letters.ATTEMPTS, dead_letters.PARKED}
_ADDED_PREFIX = "kafka_dlt-"
_SETTLED: Mapping[str, Settled] = {what: what for what in get_args(Settled)}


@dataclass(frozen=True, kw_only=True, order=True)
class Place:
    """Where a record lies."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition}/{self.offset}"


@dataclass(frozen=True, kw_only=True)
class Letter:
    """One record that died at one stage."""

    place: Place  # on the dead letter topic; the last one, where it was written more than once
    origin: Place
    group: str
    error_class: str
    exception: str
    message: str
    attempts: int
    redrives: int  # before it died
    written_ms: int  # when the record that died was written, milliseconds since the epoch
    died_ms: int
    size: int  # bytes of the value
    state: State = "open"
    settled_ms: int | None = None
    times: int = 1  # how often this letter was written

    @property
    def stage(self) -> str:
        return self.group.removeprefix(GROUP_PREFIX)

    @property
    def identity(self) -> tuple[object, ...]:
        """What repeats of one letter, and marks about it, have in common."""
        return (self.place.topic, self.place.partition, self.origin, self.written_ms, self.group)


@dataclass(frozen=True, kw_only=True)
class Mark:
    """What became of a letter: of all its repeats up to an offset of its partition."""

    identity: tuple[object, ...]
    up_to: int
    settled: Settled
    at_ms: int


def read(place: Place, topic: str, *, timestamp: int, value: bytes | None, headers: Headers) -> Letter | Mark:
    """Read a record of a dead letter topic; `topic` is the one whose letters it holds, `timestamp` in milliseconds.

    The origin's topic is never believed: whatever a header says, a letter goes back to where its topic belongs.
    """
    said = {name: text.decode("utf-8", "backslashreplace") for name, text in headers if text is not None}
    letter = Letter(
        place=place,
        origin=Place(
            topic=topic,
            partition=_number(said.get(dead_letters.ORIGINAL_PARTITION), place.partition),
            offset=_number(said.get(dead_letters.ORIGINAL_OFFSET), place.offset),
        ),
        group=said.get(dead_letters.ORIGINAL_GROUP, UNKNOWN),
        error_class=said.get(dead_letters.ERROR_CLASS, UNKNOWN),
        exception=said.get(dead_letters.EXCEPTION, ""),
        message=said.get(dead_letters.EXCEPTION_MESSAGE, ""),
        attempts=_number(said.get(dead_letters.ATTEMPTS), 1),
        redrives=_number(said.get(dead_letters.REDRIVES), 0),
        written_ms=_number(said.get(dead_letters.ORIGINAL_TIMESTAMP), timestamp),
        died_ms=timestamp,
        size=len(value or b""),
        state="parked" if dead_letters.PARKED in said else "open",
    )
    what = _SETTLED.get(said.get(dead_letters.SETTLED, ""))
    if what is None:
        return letter
    up_to = _number(said.get(dead_letters.SETTLED_UP_TO), -1)
    return Mark(identity=letter.identity, up_to=up_to, settled=what, at_ms=timestamp)


def settled(found: Iterable[Letter | Mark]) -> tuple[Letter, ...]:
    """Return each letter once, with what became of it, by its place."""
    letters: dict[tuple[object, ...], Letter] = {}
    marks: dict[tuple[object, ...], Mark] = {}
    for each in found:
        if isinstance(each, Mark):
            known = marks.get(each.identity)
            if known is None or each.up_to >= known.up_to:
                marks[each.identity] = each
            continue
        other = letters.get(each.identity)
        last = each if other is None or each.place > other.place else other
        letters[each.identity] = replace(last, times=1 if other is None else other.times + 1)
    return tuple(sorted((_with(letter, marks.get(key)) for key, letter in letters.items()), key=lambda of: of.place))


def _with(letter: Letter, mark: Mark | None) -> Letter:
    if mark is None or mark.up_to < letter.place.offset:
        return letter
    return replace(letter, state=mark.settled, settled_ms=mark.at_ms)


def mark_headers(letter: Letter, what: Settled) -> list[tuple[str, bytes]]:
    """Return the headers of a record that says what became of a letter."""
    said = {
        dead_letters.ORIGINAL_TOPIC: letter.origin.topic,
        dead_letters.ORIGINAL_PARTITION: str(letter.origin.partition),
        dead_letters.ORIGINAL_OFFSET: str(letter.origin.offset),
        dead_letters.ORIGINAL_TIMESTAMP: str(letter.written_ms),
        dead_letters.ORIGINAL_GROUP: letter.group,
        dead_letters.SETTLED: what,
        dead_letters.SETTLED_UP_TO: str(letter.place.offset),
    }
    return [(name, text.encode()) for name, text in said.items()]


def redriven_headers(headers: Headers, letters: Sequence[Letter]) -> list[tuple[str, bytes | None]]:
    """Return the headers of a record that goes back: its own, how often it went back, and how it died so far.

    `letters` are those of this one record that are re-driven with it, of one stage or of several.
    """
    ours = _ADDED | {dead_letters.REDRIVES, dead_letters.DIED}
    own = [(name, value) for name, value in headers if name not in ours and not name.startswith(_ADDED_PREFIX)]
    before = dict(headers).get(dead_letters.DIED) or b""
    deaths = [*before.decode("ascii", "replace").split(), *(_death(of.group, of.error_class) for of in letters)]
    redrives = 1 + max(letter.redrives for letter in letters)
    return [
        *own,
        (dead_letters.REDRIVES, str(redrives).encode()),
        (dead_letters.DIED, " ".join(list(dict.fromkeys(deaths))[-MOST_DEATHS:]).encode()),
    ]


def died_so_before(headers: Mapping[str, bytes], *, group: str, error_class: str) -> bool:
    """Tell whether a record died at this stage with this class before it was re-driven."""
    deaths = headers.get(dead_letters.DIED, b"").decode("ascii", "replace").split()
    return _death(group, error_class) in deaths


def _death(group: str, error_class: str) -> str:
    return f"{group}={error_class}"


def _number(text: str | None, otherwise: int) -> int:
    # A header of somebody else's may say anything; beyond 18 digits it is no offset.
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 18 else otherwise
