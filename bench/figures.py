"""Figures: what was measured, on how many cores, under which load, and whether it keeps its promise."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field


def load_now() -> float:
    """Return the load average of the last minute; above the number of cores, others were at work too."""
    return round(os.getloadavg()[0], 2)


@dataclass(frozen=True, kw_only=True)
class Promise:
    """A bound that a figure is held to: at most, or at least."""

    bound: float
    at_least: bool = False

    def kept(self, value: float) -> bool:
        """Return whether a value keeps the promise."""
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One measured number with its unit."""

    name: str
    value: float
    unit: str
    promise: Promise | None = None
    note: str = ""
    load: float = field(default_factory=load_now)  # when it was measured
    cores: int = field(default_factory=lambda: os.cpu_count() or 1)

    @property
    def kept(self) -> bool | None:
        """Whether the promise is kept; None where none was given."""
        return self.promise.kept(self.value) if self.promise else None


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of all values do not exceed, by the nearest rank; raise ValueError on none."""
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    return ordered[max(0, min(len(ordered) - 1, round(share * len(ordered) + 0.5) - 1))]


def median(values: Sequence[float]) -> float:
    """Return the middle value."""
    return percentile(values, 0.5)


def spread(name: str, values: Sequence[float], unit: str = "ms", *, p95: Promise | None = None) -> list[Figure]:
    """Return the median and the 95th percentile of many measurements."""
    note = f"of {len(values)}"
    return [
        Figure(name=f"{name}, p50", value=median(values), unit=unit, note=note),
        Figure(name=f"{name}, p95", value=percentile(values, 0.95), unit=unit, note=note, promise=p95),
    ]
