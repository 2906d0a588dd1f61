"""The settings of logins, certificates and secrets; read by settings.py, from what it is given."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from streams import secret_urls
from streams.errors import ConfigurationError
from topics.connection import ClientCredentials, KafkaConnection, Login, Password, Tls, TokenFile, context

KAFKA = "KAFKA_BOOTSTRAP_SERVERS"
KAFKA_PROTOCOL = "KAFKA_SECURITY_PROTOCOL"
KAFKA_MECHANISM = "KAFKA_SASL_MECHANISM"
KAFKA_USERNAME = "KAFKA_SASL_USERNAME"
KAFKA_PASSWORD = "KAFKA_SASL_PASSWORD"
KAFKA_PASSWORD_FILE = "KAFKA_SASL_PASSWORD_FILE"
KAFKA_TOKEN_URL = "KAFKA_OAUTH_TOKEN_URL"
KAFKA_CLIENT_ID = "KAFKA_OAUTH_CLIENT_ID"
KAFKA_CLIENT_SECRET = "KAFKA_OAUTH_CLIENT_SECRET"
KAFKA_CLIENT_SECRET_FILE = "KAFKA_OAUTH_CLIENT_SECRET_FILE"
KAFKA_SCOPE = "KAFKA_OAUTH_SCOPE"
KAFKA_TOKEN_CA = "KAFKA_OAUTH_CA_FILE"
KAFKA_TOKEN_FILE = "KAFKA_OAUTH_TOKEN_FILE"
KAFKA_CA = "KAFKA_TLS_CA_FILE"
KAFKA_CERT = "KAFKA_TLS_CERT_FILE"
KAFKA_KEY = "KAFKA_TLS_KEY_FILE"
ALLOW_PLAINTEXT_SASL = "RANKSTREAM_KAFKA_ALLOW_PLAINTEXT_SASL"
POSTGRES = "DATABASE_URL"
POSTGRES_PASSWORD_FILE = "DATABASE_PASSWORD_FILE"
REDIS = "REDIS_URL"
REDIS_PASSWORD_FILE = "REDIS_PASSWORD_FILE"
REDIS_CA = "REDIS_CA_FILE"

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
_OF_PASSWORDS = (KAFKA_USERNAME, KAFKA_PASSWORD, KAFKA_PASSWORD_FILE)
_OF_ENDPOINTS = (KAFKA_TOKEN_URL, KAFKA_CLIENT_ID, KAFKA_CLIENT_SECRET, KAFKA_CLIENT_SECRET_FILE)
_OF_TLS = (KAFKA_CA, KAFKA_CERT, KAFKA_KEY)

Environment = Mapping[str, str]


def secret_of(environment: Environment, name: str, file: str) -> str | None:
    """Return a secret, from its file or from its variable; raise ConfigurationError when it is in both, or empty."""
    path, value = environment.get(file), environment.get(name)
    if not path:
        return value or None
    if value:
        raise ConfigurationError(f"{name} and {file} are both set; leave {name} out")
    return read_secret(path, file)


def read_secret(path: str, setting: str) -> str:
    """Return what a secret's file holds, without spaces and line ends around it; raise ConfigurationError."""
    try:
        value = Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{setting}: {path} cannot be read ({type(error).__name__})") from None
    if not value:
        raise ConfigurationError(f"{setting}: {path} is empty; write the secret into it")
    return value


def file_of(environment: Environment, name: str) -> Path | None:
    """Return the path of a file that must be there; raise ConfigurationError."""
    text = environment.get(name)
    if not text:
        return None
    path = Path(text).absolute()
    try:
        path.open("rb").close()
    except OSError as error:
        raise ConfigurationError(f"{name}: {text} cannot be read ({type(error).__name__})") from None
    return path


def ca_of(environment: Environment, name: str) -> Path | None:
    """Return the path of a file of certificates to trust; raise ConfigurationError when there are none in it."""
    path = file_of(environment, name)
    if path is not None:
        try:
            ssl.create_default_context(cafile=path)
        except OSError:
            raise ConfigurationError(f"{name}: {path} holds no certificate in PEM format") from None
    return path


def kafka(environment: Environment) -> KafkaConnection | None:
    """Return how Kafka is reached; raise ConfigurationError for what does not go together."""
    bootstrap = environment.get(KAFKA)
    protocol = _protocol(environment)
    if not bootstrap:
        names = (KAFKA_PROTOCOL, KAFKA_MECHANISM, *_OF_PASSWORDS, *_OF_ENDPOINTS, KAFKA_TOKEN_FILE, *_OF_TLS)
        if given := [name for name in names if environment.get(name)]:
            raise ConfigurationError(f"{given[0]} is set, and {KAFKA} is not; set it too, as host:port[,host:port]")
        return None
    tls = _tls(environment) if protocol.endswith("SSL") else None
    login = _login(environment) if protocol.startswith("SASL") else None
    _check_unused(environment, protocol)
    if login is not None and tls is None and not _allowed(environment):
        raise ConfigurationError(
            f"{KAFKA_PROTOCOL} is SASL_PLAINTEXT: whoever listens gets the login; use SASL_SSL, "
            f"or set {ALLOW_PLAINTEXT_SASL}=on where nobody can listen"
        )
    return KafkaConnection(bootstrap=bootstrap, tls=tls, login=login)


def url_of(environment: Environment, name: str) -> str | None:
    """Return a URL; raise ConfigurationError where its password would be read as something else."""
    text = environment.get(name)
    return secret_urls.checked(text, name) if text else None


def with_password(url: str | None, environment: Environment, *, setting: str, file: str) -> str | None:
    """Return a URL (or libpq's key=value pairs) with the password that its file holds; raise ConfigurationError."""
    path = environment.get(file)
    if not path:
        return url
    if not url:
        raise ConfigurationError(f"{file} is set, and {setting} is not; set it too, without the password")
    password = read_secret(path, file)
    if "://" not in url:
        if "password=" in url.replace(" ", ""):
            raise ConfigurationError(f"{setting} has a password, and {file} is set; leave one of them out")
        escaped = password.replace("\\", r"\\").replace("'", r"\'")
        return f"{url} password='{escaped}'"
    at = urlsplit(url)
    user, _, host = at.netloc.rpartition("@")
    if ":" in user:
        raise ConfigurationError(f"{setting} has a password, and {file} is set; leave one of them out")
    return urlunsplit(at._replace(netloc=f"{user}:{quote(password, safe='')}@{host}"))


def postgres(environment: Environment) -> str | None:
    """Return the URL of Postgres with its password."""
    url = url_of(environment, POSTGRES)
    return with_password(url, environment, setting=POSTGRES, file=POSTGRES_PASSWORD_FILE)


def redis(environment: Environment) -> str | None:
    """Return the URL of Redis with its password and the CA that it is trusted by."""
    url = url_of(environment, REDIS)
    url = with_password(url, environment, setting=REDIS, file=REDIS_PASSWORD_FILE)
    ca = ca_of(environment, REDIS_CA)
    if ca is None:
        return url
    if url is None or not url.startswith("rediss://"):
        raise ConfigurationError(f"{REDIS_CA} is set, and {REDIS} is no rediss:// URL; only those use TLS")
    at = urlsplit(url)
    return urlunsplit(at._replace(query=urlencode([*parse_qsl(at.query), ("ssl_ca_certs", str(ca))])))


def _protocol(environment: Environment) -> str:
    """Return the protocol that is set, or the safe one that the other settings need."""
    wanted = environment.get(KAFKA_PROTOCOL)
    if wanted:
        return _one_of(wanted.upper(), KAFKA_PROTOCOL, PROTOCOLS)
    if any(environment.get(name) for name in (KAFKA_MECHANISM, *_OF_PASSWORDS, *_OF_ENDPOINTS, KAFKA_TOKEN_FILE)):
        return "SASL_SSL"
    return "SSL" if any(environment.get(name) for name in _OF_TLS) else "PLAINTEXT"


def _check_unused(environment: Environment, protocol: str) -> None:
    """Raise ConfigurationError for settings that the protocol makes no use of: somebody relies on them."""
    unused: list[str] = []
    if not protocol.endswith("SSL"):
        unused += _OF_TLS
    if not protocol.startswith("SASL"):
        unused += (KAFKA_MECHANISM, *_OF_PASSWORDS, *_OF_ENDPOINTS, KAFKA_TOKEN_FILE)
    if given := [name for name in unused if environment.get(name)]:
        raise ConfigurationError(f"{given[0]} is set, and {KAFKA_PROTOCOL} is {protocol}, which does not use it")


def _tls(environment: Environment) -> Tls:
    certificate, key = file_of(environment, KAFKA_CERT), file_of(environment, KAFKA_KEY)
    if key is not None and certificate is None:
        raise ConfigurationError(f"{KAFKA_KEY} is set, and {KAFKA_CERT} is not; set both")
    found = Tls(ca=ca_of(environment, KAFKA_CA), certificate=certificate, key=key)
    try:
        context(found)
    except OSError:
        raise ConfigurationError(
            f"{KAFKA_CERT} and {KAFKA_KEY}: {certificate} and {key or certificate} are no certificate and its key in "
            "PEM format, without a passphrase"
        ) from None
    return found


def _login(environment: Environment) -> Login:
    chosen = environment.get(KAFKA_MECHANISM)
    if not chosen:
        raise ConfigurationError(f"{KAFKA_MECHANISM} is not set; it must be one of {', '.join(MECHANISMS)}")
    mechanism = _one_of(chosen.upper(), KAFKA_MECHANISM, MECHANISMS)
    if mechanism == "OAUTHBEARER":
        return _token(environment)
    username = environment.get(KAFKA_USERNAME)
    password = secret_of(environment, KAFKA_PASSWORD, KAFKA_PASSWORD_FILE)
    if not username or not password:
        missing = KAFKA_PASSWORD_FILE if username else KAFKA_USERNAME
        raise ConfigurationError(f"{missing} is not set; {KAFKA_MECHANISM} {mechanism} needs it")
    return Password(mechanism=mechanism, username=username, password=password)  # type: ignore[arg-type]


def _token(environment: Environment) -> ClientCredentials | TokenFile:
    path = file_of(environment, KAFKA_TOKEN_FILE)
    if path is not None:
        if given := [name for name in _OF_ENDPOINTS if environment.get(name)]:
            raise ConfigurationError(f"{KAFKA_TOKEN_FILE} and {given[0]} are both set; leave one of them out")
        return TokenFile(path=path)
    url, client_id = url_of(environment, KAFKA_TOKEN_URL), environment.get(KAFKA_CLIENT_ID)
    secret = secret_of(environment, KAFKA_CLIENT_SECRET, KAFKA_CLIENT_SECRET_FILE)
    needed = {KAFKA_TOKEN_URL: url, KAFKA_CLIENT_ID: client_id, KAFKA_CLIENT_SECRET_FILE: secret}
    if missing := [name for name, value in needed.items() if not value]:
        raise ConfigurationError(
            f"{missing[0]} is not set; OAUTHBEARER needs {', '.join(needed)}, or {KAFKA_TOKEN_FILE}"
        )
    assert url and client_id and secret
    at = urlsplit(url)
    if at.scheme not in ("http", "https") or not at.hostname:
        raise ConfigurationError(f"{KAFKA_TOKEN_URL} is no URL like https://login.example.org/oauth2/token")
    if at.scheme == "http" and not _allowed(environment):
        raise ConfigurationError(
            f"{KAFKA_TOKEN_URL} is http: whoever listens gets the secret; use https, or set "
            f"{ALLOW_PLAINTEXT_SASL}=on where nobody can listen"
        )
    return ClientCredentials(
        url=url,
        client_id=client_id,
        secret=secret,
        scope=environment.get(KAFKA_SCOPE) or None,
        ca=ca_of(environment, KAFKA_TOKEN_CA),
    )


def _allowed(environment: Environment) -> bool:
    return _one_of(environment.get(ALLOW_PLAINTEXT_SASL) or "off", ALLOW_PLAINTEXT_SASL, ("off", "on")) == "on"


def _one_of(value: str, name: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise ConfigurationError(f"{name} is {value!r}; it must be one of {', '.join(choices)}")
    return value
