"""Settings: the only reader of the environment.

Every setting has one name. The environment wins over what a running `rankstream up` left in its data folder.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from streams import security_settings as security
from streams import setting_values as values
from streams.errors import ConfigurationError
from topics.connection import KafkaConnection

DATA_DIR = "RANKSTREAM_DATA"
ALLOW_PLAINTEXT_SASL = security.ALLOW_PLAINTEXT_SASL
KAFKA = security.KAFKA
KAFKA_CA = security.KAFKA_CA
KAFKA_CERT = security.KAFKA_CERT
KAFKA_CLIENT_ID = security.KAFKA_CLIENT_ID
KAFKA_CLIENT_SECRET = security.KAFKA_CLIENT_SECRET
KAFKA_CLIENT_SECRET_FILE = security.KAFKA_CLIENT_SECRET_FILE
KAFKA_KEY = security.KAFKA_KEY
KAFKA_MECHANISM = security.KAFKA_MECHANISM
KAFKA_PASSWORD = security.KAFKA_PASSWORD
KAFKA_PASSWORD_FILE = security.KAFKA_PASSWORD_FILE
KAFKA_PROTOCOL = security.KAFKA_PROTOCOL
KAFKA_SCOPE = security.KAFKA_SCOPE
KAFKA_TOKEN_CA = security.KAFKA_TOKEN_CA
KAFKA_TOKEN_FILE = security.KAFKA_TOKEN_FILE
KAFKA_TOKEN_URL = security.KAFKA_TOKEN_URL
KAFKA_USERNAME = security.KAFKA_USERNAME
POSTGRES = security.POSTGRES
POSTGRES_PASSWORD_FILE = security.POSTGRES_PASSWORD_FILE
REDIS = security.REDIS
REDIS_CA = security.REDIS_CA
REDIS_PASSWORD_FILE = security.REDIS_PASSWORD_FILE
QDRANT = "QDRANT_URL"
QDRANT_KEY = "QDRANT_API_KEY"
QDRANT_KEY_FILE = "QDRANT_API_KEY_FILE"
QDRANT_CA = "QDRANT_CA_FILE"
BROKER = "RANKSTREAM_BROKER"
SESSION = "RANKSTREAM_SESSION_TIMEOUT"
EMBEDDER = "RANKSTREAM_EMBEDDER"
EMBED_ALSO = "RANKSTREAM_EMBED_ALSO"
RERANKER = "RANKSTREAM_RERANKER"
LOG_LEVEL = "RANKSTREAM_LOG_LEVEL"
PROFILES = "RANKSTREAM_PROFILES"
MODELS = "RANKSTREAM_MODELS"
LLM_URL = "RANKSTREAM_LLM_URL"
LLM_MODEL = "RANKSTREAM_LLM_MODEL"
LLM_KEY = "RANKSTREAM_LLM_KEY"
LLM_KEY_FILE = "RANKSTREAM_LLM_KEY_FILE"
GRAPH_LLM = "RANKSTREAM_GRAPH_LLM"
CHUNK_CONTEXT = "RANKSTREAM_CHUNK_CONTEXT"
HEALTH = "RANKSTREAM_HEALTH"
TENANT_QUOTA = "RANKSTREAM_TENANT_QUOTA"
API_KEY = "RANKSTREAM_API_KEY"
QUERY_LOG = "RANKSTREAM_QUERY_LOG"
HTTP = "RANKSTREAM_HTTP"
HTTP_RATE = "RANKSTREAM_HTTP_RATE"
JWT_KEYS = "RANKSTREAM_JWT_KEYS"
JWT_ISSUER = "RANKSTREAM_JWT_ISSUER"
JWT_AUDIENCE = "RANKSTREAM_JWT_AUDIENCE"
JWT_CLAIMS = "RANKSTREAM_JWT_CLAIMS"
TELEMETRY = "RANKSTREAM_TELEMETRY"
TELEMETRY_SAMPLE = "RANKSTREAM_TELEMETRY_SAMPLE"
LOG = "RANKSTREAM_LOG"

DEFAULT_HTTP_RATE = 50.0  # requests a second of one key on one gateway: several times what a person's front end asks
DEFAULT_TENANT_QUOTA = 2_000.0  # tokens a second: about a third of what the default embedder reads on two cores


T = TypeVar("T")


class WrongSettings(ConfigurationError):
    """Settings are wrong: a line for each."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, kw_only=True)
class Llm:
    """An OpenAI-compatible endpoint and the model to ask there; the key is kept out of what is printed."""

    url: str  # up to and with /v1
    model: str
    key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Jwt:
    """Tokens of an identity provider, beside our own keys."""

    keys: str  # its JWKS: an https:// URL, or a file
    issuer: str
    audience: str
    claims: tuple[str, str, str] = ("tenant", "agents", "roles")  # where a token says these


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Where everything is. None: not given; `need` turns that into an error that names the setting."""

    data_dir: Path
    kafka: KafkaConnection | None = None
    qdrant: str | None = field(default=None, repr=False)  # may hold a password
    qdrant_key: str | None = field(default=None, repr=False)
    qdrant_ca: Path | None = None  # of the certificate at a https URL; none: what this machine trusts
    postgres: str | None = field(default=None, repr=False)  # the same
    redis: str | None = field(default=None, repr=False)  # the same
    broker: str = "auto"  # which embedded broker: auto, kafka or tansu
    session_timeout: float = 10.0  # seconds without a heartbeat after which a worker's partitions move
    fast_fetch: bool = False  # poll with short waits: for a broker whose long poll does not wake on new data
    log_level: str = "WARNING"
    profiles: Path | None = None  # a folder of profiles beside the shipped ones
    models: Path | None = None  # a file of embedders beside the shipped ones
    embedder: str | None = None  # the main embedder; None: the live generation's, or the default for the first one
    embed_also: tuple[str, ...] | None = None  # further ones; None: those of the live generation, or none
    llm: Llm | None = None  # None: no option that needs one is available
    graph_llm: bool = False  # entities and relations by the language model instead of by rules
    health: tuple[str, int] | None = None  # host and port of /livez and /readyz; None: not served
    chunk_context: str = "none"  # what gets the context of a chunk: none, vectors, reranker or both
    tenant_quota: float = DEFAULT_TENANT_QUOTA  # tokens a second of a tenant in the live lane; 0: no limit
    http: tuple[str, int] | None = None  # host and port of the HTTP gateway; None: its default
    http_rate: float = DEFAULT_HTTP_RATE  # requests a second of one key on one gateway; 0: no limit
    jwt: Jwt | None = None  # None: API keys alone
    query_log: bool = True  # whether questions and answers are kept on their topic, without secrets
    telemetry: str | None = None  # where OTLP over HTTP is taken, such as http://otel-collector:4318; None: off
    telemetry_sample: float = 1.0  # the share of questions and documents that are traced; metrics count all
    log: str = "text"  # or json: an object a line
    reranker: str | None = None  # a hub name or a folder, or `llm`; None: nothing is reranked


def data_dir(environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder of the embedded servers."""
    environment = os.environ if environment is None else environment
    return Path(environment.get(DATA_DIR) or ".rankstream").absolute()


def given(environment: Mapping[str, str] | None = None) -> Settings:
    """Return what the environment says, and nothing else; raise WrongSettings with all that is wrong in it."""
    settings, problems = read(environment)
    if problems:
        raise WrongSettings(problems)
    return settings


def read(environment: Mapping[str, str] | None = None) -> tuple[Settings, tuple[str, ...]]:
    """Return what the environment says, and a line for each setting that is wrong; that one is left at nothing."""
    environment = values.Environment(os.environ if environment is None else environment)
    return _read(environment), tuple(environment.problems)


def _read(environment: values.Environment) -> Settings:
    return Settings(
        data_dir=data_dir(environment),
        kafka=_secured(environment, security.kafka),
        qdrant=_secured(environment, security.url_of, QDRANT),
        qdrant_key=_secured(environment, security.secret_of, QDRANT_KEY, QDRANT_KEY_FILE),
        qdrant_ca=_secured(environment, security.ca_of, QDRANT_CA),
        postgres=_secured(environment, security.postgres),
        redis=_secured(environment, security.redis),
        broker=values.choice(environment, BROKER, ("auto", "kafka", "tansu")),
        session_timeout=values.seconds(environment, SESSION, 10.0),
        log_level=values.level(environment, LOG_LEVEL),
        profiles=Path(environment[PROFILES]).absolute() if environment.get(PROFILES) else None,
        models=Path(environment[MODELS]).absolute() if environment.get(MODELS) else None,
        embedder=environment.get(EMBEDDER) or None,
        embed_also=values.names(environment, EMBED_ALSO),
        llm=_llm(environment),
        graph_llm=values.choice(environment, GRAPH_LLM, ("off", "on")) == "on",
        health=values.address(environment, HEALTH),
        chunk_context=values.choice(environment, CHUNK_CONTEXT, ("none", "vectors", "reranker", "both")),
        tenant_quota=values.rate(environment, TENANT_QUOTA, DEFAULT_TENANT_QUOTA, "tokens"),
        http=values.address(environment, HTTP),
        http_rate=values.rate(environment, HTTP_RATE, DEFAULT_HTTP_RATE, "requests"),
        jwt=_jwt(environment),
        reranker=values.unless_none(environment, RERANKER),
        query_log=values.choice(environment, QUERY_LOG, ("on", "off")) == "on",
        telemetry=values.endpoint(environment, TELEMETRY),
        telemetry_sample=values.share(environment, TELEMETRY_SAMPLE, 1.0),
        log=values.choice(environment, LOG, ("text", "json")),
    )


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """Return what the environment says, completed by a running `rankstream up` on the same data folder."""
    return with_running(given(environment))


def with_running(settings: Settings) -> Settings:
    """Return settings, completed by a running `rankstream up` on the same data folder."""
    try:
        found = json.loads(endpoints_file(settings.data_dir).read_text())
    except (OSError, ValueError):
        return settings
    return replace(
        settings,
        kafka=settings.kafka or (KafkaConnection(bootstrap=found["kafka"]) if found.get("kafka") else None),
        qdrant=settings.qdrant or found.get("qdrant"),
        postgres=settings.postgres or found.get("postgres"),
        redis=settings.redis or found.get("redis"),
        fast_fetch=found.get("broker") == "tansu" and not settings.kafka,
    )


def names_given() -> frozenset[str]:
    """Return the names of all variables of the environment, whosever they are."""
    return frozenset(os.environ)


def secret(name: str, environment: Mapping[str, str] | None = None) -> str:
    """Return what a variable that a configuration file names holds; empty where it is not set."""
    return (os.environ if environment is None else environment).get(name, "").strip()


def endpoints_file(folder: Path) -> Path:
    """Return the file in which `rankstream up` says where its servers are."""
    return folder / "endpoints.json"


def need(value: T | None, name: str) -> T:
    """Return a setting that must be there."""
    if not value:
        raise ConfigurationError(f"{name} is not set, and no `rankstream up` is running on this data folder")
    return value


@values.noted
def _secured(environment: values.Environment, function: Callable[..., T], *names: str) -> T:
    return function(environment, *names)


@values.noted
def _llm(environment: Mapping[str, str]) -> Llm | None:
    """Return the language model that is set; raise ConfigurationError for half a setting or one that is needed."""
    url, model = security.url_of(environment, LLM_URL) or "", environment.get(LLM_MODEL) or ""
    if not url and not model:
        options = ((GRAPH_LLM, "off"), (CHUNK_CONTEXT, "none"))
        needing = [name for name, off in options if (environment.get(name) or off) != off]
        if environment.get(RERANKER, "").strip() == values.BY_LLM:
            needing.append(f"{RERANKER}={values.BY_LLM}")
        if needing:
            raise ConfigurationError(f"{needing[0]} needs a language model; set {LLM_URL} and {LLM_MODEL}")
        return None
    if not url or not model:
        missing, given_one = (LLM_MODEL, LLM_URL) if url else (LLM_URL, LLM_MODEL)
        raise ConfigurationError(f"{missing} is not set beside {given_one}; set both")
    if not re.match(r"https?://[^/\s]+", url):
        raise ConfigurationError(f"{LLM_URL} is no URL like http://127.0.0.1:8080/v1")
    return Llm(url=url.rstrip("/"), model=model, key=security.secret_of(environment, LLM_KEY, LLM_KEY_FILE))


@values.noted
def _jwt(environment: values.Environment) -> Jwt | None:
    """Return how tokens are checked; raise ConfigurationError for half a setting, which would check half a token."""
    found = {name: environment.get(name, "").strip() for name in (JWT_KEYS, JWT_ISSUER, JWT_AUDIENCE)}
    claims = values.names(environment, JWT_CLAIMS)
    if not any(found.values()):
        if claims:
            raise ConfigurationError(f"{JWT_CLAIMS} is set without {JWT_KEYS}, {JWT_ISSUER} and {JWT_AUDIENCE}")
        return None
    if missing := [name for name, value in found.items() if not value]:
        raise ConfigurationError(f"{missing[0]} is not set; tokens need {', '.join(found)}")
    security.url_of(environment, JWT_KEYS)
    if found[JWT_KEYS].startswith("http://"):
        raise ConfigurationError(f"{JWT_KEYS} must be https:// or a file: whoever changes the answer lets himself in")
    if claims is not None and len(claims) != 3:
        raise ConfigurationError(f"{JWT_CLAIMS} must name three claims, such as tenant,agents,roles")
    names = ("tenant", "agents", "roles") if claims is None else (claims[0], claims[1], claims[2])
    return Jwt(keys=found[JWT_KEYS], issuer=found[JWT_ISSUER], audience=found[JWT_AUDIENCE], claims=names)
