"""Results as files: results.json for programs, RESULTS.md for people. A run replaces the benches that it ran."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.figures import Figure

FOLDER = Path(__file__).parent


def line(figure: Figure) -> str:
    """Return a figure as a line for the terminal."""
    kept = {True: "kept", False: "NOT KEPT", None: ""}[figure.kept]
    promise = f"promised {figure.promise}: {kept}" if figure.promise else ""
    said = f"  {figure.name:<46} {shown(figure.value):>9} {figure.unit:<12} {promise:<26} {figure.note}"
    return f"{said.rstrip()}  [load {figure.load} on {figure.cores} cores]"


def shown(value: float) -> str:
    """Return a number with three significant digits, or all of its whole part."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def keep(bench: str, figures: Sequence[Figure], seconds: float) -> None:
    """Replace the results of one bench in both files."""
    path = FOLDER / "results.json"
    results: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    results[bench] = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seconds": round(seconds),
        "python": platform.python_version(),
        "figures": [_fields(figure) for figure in figures],
    }
    path.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    (FOLDER / "RESULTS.md").write_text("\n".join(_page(results)) + "\n")


def _fields(figure: Figure) -> dict[str, Any]:
    return {
        "name": figure.name,
        "value": round(figure.value, 4),
        "unit": figure.unit,
        "promise": str(figure.promise) if figure.promise else None,
        "kept": figure.kept,
        "note": figure.note,
        "load": figure.load,
        "cores": figure.cores,
    }


def _page(results: dict[str, Any]) -> Iterator[str]:
    yield "# Results"
    yield ""
    yield "Written by `make bench`; what is measured and how: [README.md](README.md). Load is the average of the last"
    yield "minute when a figure was taken: above the number of cores, other work disturbed it, and only ratios count."
    for bench, result in sorted(results.items()):
        yield ""
        yield f"## {bench}"
        yield ""
        yield f"{result['at']}, Python {result['python']}, {result['seconds']} s"
        yield ""
        yield "| figure | value | unit | promise | note | load / cores |"
        yield "|---|---:|---|---|---|---|"
        for each in result["figures"]:
            kept = {True: ", kept", False: ", **not kept**", None: ""}[each["kept"]]
            yield (
                f"| {each['name']} | {shown(each['value'])} | {each['unit']} | {each['promise'] or ''}{kept} "
                f"| {each['note']} | {each['load']} / {each['cores']} |"
            )
