"""Telemetry of a command: on where an endpoint is set, and flushed at its end."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from streams.settings import Settings

FLUSH = 2.0  # seconds that an end may take for what is not exported yet


@contextmanager
def on(found: Settings | None, arguments: Sequence[str]) -> Iterator[None]:
    """Send traces, metrics and logs inside the block; nothing without an endpoint, or where settings are wrong."""
    if found is None or found.telemetry is None:
        yield
        return
    # Importing the SDK takes a moment, which a command without telemetry does not spend.
    from streams.telemetry import own_process, signals  # noqa: PLC0415
    from streams.telemetry.otel import Otel  # noqa: PLC0415

    backend = Otel(found.telemetry, service=service(arguments), sample=found.telemetry_sample)
    signals.install(backend)
    logging.getLogger().addHandler(backend.handler)
    unwatch = signals.watch(own_process.readings)
    try:
        yield
    finally:
        unwatch()
        logging.getLogger().removeHandler(backend.handler)
        signals.install(None)
        backend.close(FLUSH)


def service(arguments: Sequence[str]) -> str:
    """Return the name under which a process is seen: a processor that runs alone has its own, and so has the probe."""
    if arguments[:1] == ["probe"]:
        return "rankstream-probe"
    if len(arguments) == 2 and arguments[0] == "run" and arguments[1] != "all":
        return f"rankstream-{arguments[1]}"
    return "rankstream"
