"""The settings as they are in effect, by their names, with secrets masked."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from streams import settings
from streams.secret_urls import MASK, masked
from streams.settings import Llm, Settings
from topics.connection import ClientCredentials, KafkaConnection, Password, TokenFile

LIKE_OURS = ("RANKSTREAM_", "KAFKA_SASL_", "KAFKA_TLS_", "KAFKA_OAUTH_", "KAFKA_SECURITY_", "KAFKA_BOOTSTRAP")
NOT_OURS = ("RANKSTREAM_FAUST", "RANKSTREAM_IMAGE", "RANKSTREAM_GPU_IMAGE")  # of Faust, and of docker-compose.yml
_KNOWN = [value for key, value in vars(settings).items() if key.isupper() and isinstance(value, str)]
# Fields whose names are not those of their settings.
NAMES = {
    "data_dir": settings.DATA_DIR,
    "qdrant": settings.QDRANT,
    "qdrant_key": settings.QDRANT_KEY,
    "qdrant_ca": settings.QDRANT_CA,
    "postgres": settings.POSTGRES,
    "redis": settings.REDIS,
}


def lines(found: Settings) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each setting; what is not set is `-`."""
    for field in dataclasses.fields(found):
        value = getattr(found, field.name)
        if field.name == "kafka":
            yield from _kafka(value)
        elif field.name == "llm":
            yield from _llm(value)
        elif field.name == "jwt":
            names = (settings.JWT_KEYS, settings.JWT_ISSUER, settings.JWT_AUDIENCE, settings.JWT_CLAIMS)
            parts = (None,) * 4 if value is None else (masked(value.keys), value.issuer, value.audience, value.claims)
            yield from zip(names, (shown("", part) for part in parts), strict=True)
        elif field.name != "fast_fetch":  # of the broker, not of a setting
            yield _name(field.name), shown(field.name, value)


def shown(field: str, value: Any) -> str:
    """Return a value as text, without what must not be read over a shoulder."""
    if value is None:
        return "-"
    if field in ("postgres", "qdrant", "redis"):
        return masked(value)
    if re.search("key$|secret|password|token$", field):
        return MASK
    if isinstance(value, tuple):
        return ":".join(map(str, value)) if field in ("health", "http") else ",".join(map(str, value))
    return {True: "on", False: "off"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def unknown(given: Collection[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the variables that look like settings and are none, each with the setting that it may be meant to be."""
    for name in sorted(set(given) - set(_KNOWN)):
        if name.startswith(LIKE_OURS) and not name.startswith(NOT_OURS):
            yield name, next(iter(difflib.get_close_matches(name, _KNOWN, n=1)), None)


def _name(field: str) -> str:
    if field in NAMES:
        return NAMES[field]
    wanted = f"RANKSTREAM_{field.upper()}"
    return wanted if wanted in _KNOWN else field


def _kafka(kafka: KafkaConnection | None) -> Iterator[tuple[str, str]]:
    yield settings.KAFKA, kafka.bootstrap if kafka else "-"
    if kafka is None:
        return
    yield settings.KAFKA_PROTOCOL, kafka.protocol
    if kafka.tls is not None:
        yield settings.KAFKA_CA, str(kafka.tls.ca or "-")
        yield settings.KAFKA_CERT, str(kafka.tls.certificate or "-")
        yield settings.KAFKA_KEY, str(kafka.tls.key or "-")
    match kafka.login:
        case Password(mechanism=mechanism, username=username):
            yield settings.KAFKA_MECHANISM, mechanism
            yield settings.KAFKA_USERNAME, username
            yield settings.KAFKA_PASSWORD, MASK
        case ClientCredentials(url=url, client_id=client_id, scope=scope, ca=ca):
            yield settings.KAFKA_MECHANISM, "OAUTHBEARER"
            yield settings.KAFKA_TOKEN_URL, masked(url)
            yield settings.KAFKA_CLIENT_ID, client_id
            yield settings.KAFKA_CLIENT_SECRET, MASK
            yield settings.KAFKA_SCOPE, shown("", scope)
            yield settings.KAFKA_TOKEN_CA, shown("", ca)
        case TokenFile(path=path):
            yield settings.KAFKA_MECHANISM, "OAUTHBEARER"
            yield settings.KAFKA_TOKEN_FILE, str(Path(path))


def _llm(llm: Llm | None) -> Iterator[tuple[str, str]]:
    yield settings.LLM_URL, masked(llm.url) if llm else "-"
    yield settings.LLM_MODEL, llm.model if llm else "-"
    yield settings.LLM_KEY, MASK if llm and llm.key else "-"
