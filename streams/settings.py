"""Settings: the only reader of the environment.

Every setting has one name. The environment wins over what a running `rankstream up` left in its data folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from streams.errors import ConfigurationError

DATA_DIR = "RANKSTREAM_DATA"
KAFKA = "KAFKA_BOOTSTRAP_SERVERS"
QDRANT = "QDRANT_URL"
QDRANT_KEY = "QDRANT_API_KEY"
POSTGRES = "DATABASE_URL"
REDIS = "REDIS_URL"
BROKER = "RANKSTREAM_BROKER"
SESSION = "RANKSTREAM_SESSION_TIMEOUT"
EMBEDDER = "RANKSTREAM_EMBEDDER"
EMBED_ALSO = "RANKSTREAM_EMBED_ALSO"
LOG_LEVEL = "RANKSTREAM_LOG_LEVEL"
PROFILES = "RANKSTREAM_PROFILES"
MODELS = "RANKSTREAM_MODELS"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Where everything is. None: not given; `need` turns that into an error that names the setting."""

    data_dir: Path
    kafka: str | None = None
    qdrant: str | None = None
    qdrant_key: str | None = None
    postgres: str | None = None
    redis: str | None = None
    broker: str = "auto"  # which embedded broker: auto, kafka or tansu
    session_timeout: float = 10.0  # seconds without a heartbeat after which a worker's partitions move
    fast_fetch: bool = False  # poll with short waits: for a broker whose long poll does not wake on new data
    log_level: str = "WARNING"
    profiles: Path | None = None  # a folder of profiles beside the shipped ones
    models: Path | None = None  # a file of embedders beside the shipped ones
    embedder: str | None = None  # the main embedder; None: the live generation's, or the default for the first one
    embed_also: tuple[str, ...] | None = None  # further ones; None: those of the live generation, or none


def data_dir(environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the embedded servers."""
    environment = os.environ if environment is None else environment
    return Path(environment.get(DATA_DIR) or ".rankstream").absolute()


def given(environment: Mapping[str, str] | None = None) -> Settings:
    """Return what the environment says, and nothing else."""
    environment = os.environ if environment is None else environment
    return Settings(
        data_dir=data_dir(environment),
        kafka=environment.get(KAFKA) or None,
        qdrant=environment.get(QDRANT) or None,
        qdrant_key=environment.get(QDRANT_KEY) or None,
        postgres=environment.get(POSTGRES) or None,
        redis=environment.get(REDIS) or None,
        broker=_choice(environment, BROKER, ("auto", "kafka", "tansu")),
        session_timeout=_seconds(environment, SESSION, 10.0),
        log_level=environment.get(LOG_LEVEL, "WARNING").upper(),
        profiles=Path(environment[PROFILES]).absolute() if environment.get(PROFILES) else None,
        models=Path(environment[MODELS]).absolute() if environment.get(MODELS) else None,
        embedder=environment.get(EMBEDDER) or None,
        embed_also=_names(environment, EMBED_ALSO),
    )


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """Return what the environment says, completed by a running `rankstream up` on the same data folder."""
    settings = given(environment)
    try:
        found = json.loads(endpoints_file(settings.data_dir).read_text())
    except (OSError, ValueError):
        return settings
    return Settings(
        data_dir=settings.data_dir,
        kafka=settings.kafka or found.get("kafka"),
        qdrant=settings.qdrant or found.get("qdrant"),
        qdrant_key=settings.qdrant_key,
        postgres=settings.postgres or found.get("postgres"),
        redis=settings.redis or found.get("redis"),
        broker=settings.broker,
        session_timeout=settings.session_timeout,
        fast_fetch=found.get("broker") == "tansu" and not settings.kafka,
        log_level=settings.log_level,
        profiles=settings.profiles,
        models=settings.models,
        embedder=settings.embedder,
        embed_also=settings.embed_also,
    )


def secret(name: str, environment: Mapping[str, str] | None = None) -> str:
    """Return what a variable that a configuration file names holds; empty where it is not set."""
    return (os.environ if environment is None else environment).get(name, "").strip()


def endpoints_file(folder: Path) -> Path:
    """Return the file in which `rankstream up` says where its servers are."""
    return folder / "endpoints.json"


def need(value: str | None, name: str) -> str:
    """Return a setting that must be there."""
    if not value:
        raise ConfigurationError(f"{name} is not set, and no `rankstream up` is running on this data folder")
    return value


def _names(environment: Mapping[str, str], name: str) -> tuple[str, ...] | None:
    return tuple(filter(None, (part.strip() for part in environment.get(name, "").split(",")))) or None


def _choice(environment: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    value = environment.get(name) or choices[0]
    if value not in choices:
        raise ConfigurationError(f"{name} is {value!r}; it must be one of {', '.join(choices)}")
    return value


def _seconds(environment: Mapping[str, str], name: str, default: float) -> float:
    text = environment.get(name)
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        raise ConfigurationError(f"{name} is {text!r}; it must be a number of seconds") from None
    if not 1 <= value <= 300:
        raise ConfigurationError(f"{name} is {text!r}; it must be between 1 and 300 seconds")
    return value
