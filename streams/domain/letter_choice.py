"""Which dead letters an operator means, and how many there are of each kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from streams.domain.letters import STATES, WAITING, Letter, State


@dataclass(frozen=True, kw_only=True)
class Address:
    """A topic, a partition of it, or a record; of a dead letter topic, or of the topic that its letters came from."""

    topic: str
    partition: int | None = None
    offset: int | None = None

    def matches(self, letter: Letter) -> bool:
        """Tell whether a letter lies here, or came from here."""
        place = letter.place if self.topic == letter.place.topic else letter.origin
        return (
            self.topic == place.topic
            and self.partition in (None, place.partition)
            and self.offset in (None, place.offset)
        )


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is said of the letters that are meant; what is left out does not narrow."""

    addresses: tuple[Address, ...] = ()  # any of them
    stage: str | None = None
    error_class: str | None = None
    since_ms: int | None = None  # died since, milliseconds since the epoch

    def matches(self, letter: Letter) -> bool:
        """Tell whether a letter is meant."""
        return (
            (not self.addresses or any(address.matches(letter) for address in self.addresses))
            and self.stage in (None, letter.stage)
            and self.error_class in (None, letter.error_class)
            and (self.since_ms is None or letter.died_ms >= self.since_ms)
        )


@dataclass(frozen=True, kw_only=True)
class Group:
    """The letters of one topic, stage and error class."""

    topic: str  # the one that they came from
    stage: str
    error_class: str
    counts: Mapping[State, int]
    oldest_ms: int  # of those that wait for somebody; of all, where none does
    newest_ms: int

    @property
    def waiting(self) -> int:
        return sum(self.counts[state] for state in WAITING)


def grouped(letters: Iterable[Letter]) -> tuple[Group, ...]:
    """Return the letters by topic, stage and class, in the order of these names."""
    by: dict[tuple[str, str, str], list[Letter]] = {}
    for letter in letters:
        by.setdefault((letter.origin.topic, letter.stage, letter.error_class), []).append(letter)
    return tuple(_group(*key, of) for key, of in sorted(by.items()))


def _group(topic: str, stage: str, error_class: str, letters: list[Letter]) -> Group:
    found = Counter(letter.state for letter in letters)
    died = [letter.died_ms for letter in letters if letter.state in WAITING] or [letter.died_ms for letter in letters]
    return Group(
        topic=topic,
        stage=stage,
        error_class=error_class,
        counts={state: found[state] for state in STATES},
        oldest_ms=min(died),
        newest_ms=max(died),
    )
