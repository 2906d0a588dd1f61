"""What `rankstream dlq` is told: addresses, stages, classes, times; what is wrong is said in one line."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import get_args

from schemas.dead_letters import ErrorClass
from streams.cli import durations
from streams.domain.letter_choice import Address, Choice
from streams.domain.letters import UNKNOWN
from streams.errors import ConfigurationError
from streams.processors import catalogue as processors
from streams.processors.replay import REPLAY
from topics.catalogue import CONSUMED

_ADDRESS = re.compile(r"(?P<topic>[^/\s]+)(?:/(?P<partition>\d{1,9})(?:/(?P<offset>\d{1,18}))?)?", re.ASCII)
_QUESTIONS = frozenset(processor.source.name for processor in (*processors.QUERY, *processors.LOG))
_LOGS = frozenset(topic.name for topic in CONSUMED if topic.cleanup == "compact")
_OF_A_GENERATION = re.compile(rf"{REPLAY.name}-g\d{{1,9}}", re.ASCII)
ANSWERED = "a question never goes back: its sender was answered long ago; `rankstream dlq discard` is done with it"
LAST = "the log keeps the last version of a document, and never goes back to an older one; publish the document again"


def choice_of(
    addresses: Collection[str], *, stage: str | None, error_class: str | None, since: str | None, now: float
) -> Choice:
    """Return which letters are meant; raise ConfigurationError that names the argument. `now`: seconds."""
    stages = [processor.name for processor in processors.ALL]
    if stage is not None and stage not in (*stages, UNKNOWN) and not _OF_A_GENERATION.fullmatch(stage):
        raise ConfigurationError(f"--stage: there is no processor {stage!r}; there are {', '.join(stages)}")
    classes = get_args(ErrorClass)
    if error_class is not None and error_class not in (*classes, UNKNOWN):
        raise ConfigurationError(f"--class: there is no class {error_class!r}; there are {', '.join(classes)}")
    return Choice(
        addresses=tuple(address_of(each) for each in addresses),
        stage=stage,
        error_class=error_class,
        since_ms=None if since is None else since_of(since, now),
    )


def address_of(text: str) -> Address:
    """Read TOPIC, TOPIC/PARTITION or TOPIC/PARTITION/OFFSET; raise ConfigurationError."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        raise ConfigurationError(f"{text!r} must be TOPIC, TOPIC/PARTITION or TOPIC/PARTITION/OFFSET: chunks.dlq/2/17")
    topic, partition, offset = found["topic"], found["partition"], found["offset"]
    if topic.removesuffix(".dlq") not in {each.name for each in CONSUMED}:
        known = ", ".join(each.dead_letters.name for each in CONSUMED)
        raise ConfigurationError(f"{text}: {topic} has no dead letters; there are {known}")
    return Address(
        topic=topic,
        partition=None if partition is None else int(partition),
        offset=None if offset is None else int(offset),
    )


def since_of(text: str, now: float) -> int:
    """Return milliseconds since the epoch of `2h` before now, or of an ISO 8601 date; raise ConfigurationError."""
    if (ago := durations.seconds(text)) is not None:
        return int((now - ago) * 1000)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigurationError(f"--since {text!r} must be as 90s, 15m, 2h, 7d or 2026-01-31T08:00") from None
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)


def redrivable() -> frozenset[str]:
    """Return the topics whose letters may go back to them."""
    return processors.REDRIVABLE


def check_is_said(choice: Choice, everything: bool) -> None:
    """Raise ConfigurationError unless it is said which letters are meant, in one way."""
    said = choice != Choice()
    if not said and not everything:
        raise ConfigurationError("which ones? Give an ADDRESS, --stage, --class or --since; or --all")
    if said and everything:
        raise ConfigurationError("--all says everything: leave it out, or leave out what narrows it")


def check_redrivable(choice: Choice) -> None:
    """Raise ConfigurationError when a choice asks by name for what never goes back."""
    if choice.stage in {processor.name for processor in processors.QUERY}:
        raise ConfigurationError(f"--stage {choice.stage}: {ANSWERED}")
    if choice.stage == REPLAY.name or _OF_A_GENERATION.fullmatch(choice.stage or ""):
        raise ConfigurationError(f"--stage {choice.stage}: {LAST}")
    for address in choice.addresses:
        if address.topic.removesuffix(".dlq") in _QUESTIONS:
            raise ConfigurationError(f"{address.topic}: {ANSWERED}")
        if address.topic.removesuffix(".dlq") in _LOGS:
            raise ConfigurationError(f"{address.topic}: {LAST}")
