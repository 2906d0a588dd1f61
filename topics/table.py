"""The catalogue as a table, for people."""

from __future__ import annotations

from collections.abc import Sequence

from topics.topic import Topic

_UNITS = (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000), ("second", 1_000), ("millisecond", 1))


def render_table(topics: Sequence[Topic]) -> str:
    """Return one line a topic, under a heading, with aligned columns."""
    rows = [("name", "carries", "key", "partitions", "cleanup", "retention")]
    rows += [
        (
            topic.name,
            " | ".join(message.__name__ for message in topic.carries),
            topic.key,
            str(topic.partitions),
            topic.cleanup,
            retention(topic),
        )
        for topic in topics
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def retention(topic: Topic) -> str:
    """Return in words how long records are kept."""
    return "last of each key" if topic.cleanup == "compact" else duration(topic.retention_ms)


def duration(milliseconds: int) -> str:
    """Return a duration in the largest unit that divides it."""
    if milliseconds < 0:
        return "for ever"
    unit, size = next(((unit, size) for unit, size in _UNITS if milliseconds % size == 0), _UNITS[-1])
    count = milliseconds // size
    return f"{count} {unit}" + ("" if count == 1 else "s")
