"""Logging of the command: to standard error, with the libraries quiet where we say the same in one line."""

from __future__ import annotations

import logging

from streams import settings
from streams.errors import ConfigurationError

EXPORTING = ("opentelemetry", "urllib3")  # streams/telemetry/deliveries.py says in one line what they say in many
CHATTY = ("aiokafka", "faust", "mode", "psycopg.pool", "asyncio", *EXPORTING)


def set_up(level: str, *, form: str = "text") -> None:
    """Log from `level` on, as `text` or `json`; libraries only when debugging. Raises ConfigurationError."""
    try:
        logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    except ValueError:
        raise ConfigurationError(f"{settings.LOG_LEVEL} is {level!r}; use DEBUG, INFO, WARNING or ERROR") from None
    if form == "json":
        from streams.telemetry.logs import JsonLines  # noqa: PLC0415  most commands do without

        for handler in logging.getLogger().handlers:
            handler.setFormatter(JsonLines())
    if level != "DEBUG":
        for name in CHATTY:
            logging.getLogger(name).setLevel(logging.CRITICAL)


def let_libraries_speak() -> None:
    """Log what libraries say as well: a worker has nobody who waits for its one line."""
    for name in CHATTY:
        if name not in EXPORTING:
            logging.getLogger(name).setLevel(logging.NOTSET)
