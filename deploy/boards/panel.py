"""A dashboard as values, and what is asked of Prometheus again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from streams.processor import Processor
from streams.processors import catalogue

STEP = "$__rate_interval"  # what Grafana finds fit for the range that is shown

Kind = Literal["timeseries", "stat"]


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A picture: its title says what, its description what is good."""

    title: str
    queries: Sequence[tuple[str, str]]  # what is asked, and how a line is called
    unit: str = "short"
    about: str = ""
    kind: Kind = "timeseries"
    stacked: bool = False
    width: int = 8
    height: int = 8


@dataclass(frozen=True, kw_only=True)
class Dashboard:
    """A page of panels, from left to right and from top to bottom."""

    name: str
    title: str
    panels: tuple[Panel, ...]


def rate(metric: str, by: str = "", labels: str = "") -> str:
    """Return what comes a second, by labels."""
    chosen = f"{{{labels}}}" if labels else ""
    return f"sum{f' by ({by})' if by else ''} (rate({metric}{chosen}[{STEP}]))"


def quantile(share: float, metric: str, by: str = "", labels: str = "") -> str:
    """Return a quantile of a histogram, by labels."""
    return f"histogram_quantile({share:g}, {rate(f'{metric}_bucket', f'le, {by}' if by else 'le', labels)})"


def both(metric: str, by: str = "", labels: str = "") -> tuple[tuple[str, str], ...]:
    called = "".join(f" {{{{{label}}}}}" for label in by.split(", ") if label)
    return tuple((quantile(share, metric, by, labels), f"p{share * 100:g}{called}") for share in (0.5, 0.95))


def of(processors: Sequence[Processor]) -> str:
    return f'processor=~"{"|".join(each.name for each in processors if not each.per_generation)}"'


ASKED = "rankstream_question_duration_seconds"
DEGRADED = 'result="degraded"'
ANSWERED = 'result=~"answered|degraded"'
PROCESS = "messaging_process_duration_seconds"
CALLS = "rankstream_call_duration_seconds"
QUERY, LIVE, BULK = map(of, (catalogue.QUERY, catalogue.LIVE, catalogue.BULK))
