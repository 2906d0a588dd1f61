"""The report of a run: scenario × invariant, with figures."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass

from tests.faults.checker import INVARIANTS, Verdict
from tests.faults.matrix import ALL

ABOUT = (
    "Real: Apache Kafka, Postgres, Valkey, and every processor in a process that is signalled by its pid; some share "
    "one, so that a kill takes both.",
    "For Qdrant the embedded process stands in: the same engine behind the same calls, but **not a Qdrant server**.",
    "The embedder is a hashed bag of words behind a provider's protocol: the machine's time goes into delivery.",
    "The broker has no proxy before it, since it tells clients its own address: its process is killed and stopped.",
    "One version of each message exists so far: old and new senders are messages without the fields that have "
    "defaults, with fields not known yet, and CloudEvents.",
    "",
    "I1 nothing lost · I2 stores equal an offline rebuild, no answer with what was replaced · I3 one surfaced answer · "
    "I4 degraded if and only if faulted · I5 outcome by deadline + 250 ms · I6 lag back to 0 · I7 versions rise · "
    "I8 sizes flat · I9 no secret in logs · I10 exit codes · bit: the fault met something in flight · own: what the "
    "scenario adds · timed: times that a busy machine does not keep, told but not judged. A number says how often it "
    "broke.",
    "",
)
SHOWN = 5  # complaints of an invariant
LEFT_OUT = "left out of this run"


@dataclass(frozen=True, kw_only=True)
class Row:
    """What became of one scenario."""

    number: int
    title: str
    verdict: Verdict
    failed: str | None  # it could not be run to its end
    faults: int
    seconds: float

    @property
    def holds(self) -> bool:
        return self.failed is None and self.verdict.holds


def line(row: Row) -> str:
    """Return what is printed when a scenario is over."""
    broken = {name: list(found) for name, found in row.verdict.complaints.items() if found}
    figures = ", ".join(f"{name} {value:g}" for name, value in _rounded(row.verdict).items())
    said = [f"  {'holds' if row.holds else 'BROKEN'} after {row.seconds:.0f} s, {row.faults} faults: {figures}"]
    if row.failed:
        said.append(f"  could not be run: {row.failed}")
    for name, found in broken.items():
        said += [f"  {name}: {each}" for each in found[:SHOWN]]
        if len(found) > SHOWN:
            said.append(f"  {name}: … and {len(found) - SHOWN} more")
    return "\n".join(said)


def _rounded(verdict: Verdict) -> dict[str, float]:
    return {name: round(value, 2) for name, value in verdict.figures.items()}


def written(
    rows: Sequence[Row],
    *,
    seed: int,
    rates: tuple[float, float],
    target: tuple[float, float],
    minutes: float,
    cut: bool,
) -> str:
    """Return the report as Markdown."""
    by_number = {row.number: row for row in rows}
    invariants = list(INVARIANTS)
    out = [
        "# Fault matrix",
        "",
        f"Written by `make faults{' CUT=1' if cut else ''}`; seed {seed}, {minutes:.0f} minutes on "
        f"{os.cpu_count()} cores, Python {platform.python_version()}.",
        "",
        f"Load: {rates[0]:.1f} documents and {rates[1]:.1f} questions a second (target {target[0]:g} and "
        f"{target[1]:g}; the run takes a fifth of what the machine gives to either alone where that is less).",
        "",
        *ABOUT,
        f"| # | scenario | {' | '.join(invariants)} |",
        f"|---|---|{'---|' * len(invariants)}",
    ]
    for scenario in ALL:
        row = by_number.get(scenario.number)
        if row is None:
            cells = [LEFT_OUT, *[""] * (len(invariants) - 1)]
        else:
            cells = [str(len(found)) if (found := row.verdict.complaints[name]) else "✓" for name in invariants]
        out.append(f"| {scenario.number} | {scenario.title} | {' | '.join(cells)} |")
    names = list(rows[0].verdict.figures) if rows else []
    out += ["", f"| # | {' | '.join(names)} | faults | seconds |", f"|---|{'---|' * (len(names) + 2)}"]
    for row in rows:
        values = " | ".join(f"{value:g}" for value in _rounded(row.verdict).values())
        out.append(f"| {row.number} | {values} | {row.faults} | {row.seconds:.0f} |")
    if broken := [row for row in rows if row.failed or any(row.verdict.complaints.values())]:
        out += ["", "## What did not hold, or was late"]
        for row in broken:
            out += [
                "",
                f"### {row.number} {row.title}",
                "",
                *([f"- could not be run: {row.failed}"] if row.failed else []),
            ]
            for name, found in row.verdict.complaints.items():
                out += [f"- {name}: {each}" for each in found[:SHOWN]]
                out += [f"- {name}: … and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return "\n".join(out) + "\n"
