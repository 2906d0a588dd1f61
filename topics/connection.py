"""How a Kafka cluster is reached: where it is, over TLS or not, and as whom. The one maker of aiokafka's arguments."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]


class NoToken(ConnectionError):
    """No token could be had; the Kafka client tries again, as it does for a broker that is away."""


@dataclass(frozen=True, kw_only=True)
class Tls:
    """What a connection over TLS trusts, and what it shows of itself."""

    ca: Path | None = None  # PEM; none: what this machine trusts
    certificate: Path | None = None  # PEM, the client's own, with its chain; for mTLS
    key: Path | None = None  # PEM; none: it is in the certificate's file


@dataclass(frozen=True, kw_only=True)
class Password:
    """A login by name and password: PLAIN or SCRAM."""

    mechanism: Mechanism
    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class ClientCredentials:
    """A login by a token (OAUTHBEARER) that an OAuth server gives for a client's id and secret (RFC 6749, 4.4)."""

    url: str  # of the token endpoint
    client_id: str
    secret: str = field(repr=False)
    scope: str | None = None
    ca: Path | None = None  # of the token endpoint; none: what this machine trusts


@dataclass(frozen=True, kw_only=True)
class TokenFile:
    """A login by a token (OAUTHBEARER) that somebody else keeps fresh in a file."""

    path: Path


Login = Password | ClientCredentials | TokenFile


@dataclass(frozen=True, kw_only=True)
class KafkaConnection:
    """Where a cluster is and how it is talked to; as text, only where."""

    bootstrap: str  # host:port, comma-separated
    tls: Tls | None = None  # none: plain text
    login: Login | None = None  # none: nobody, or whom the certificate names

    def __str__(self) -> str:
        return self.bootstrap

    @property
    def servers(self) -> list[str]:
        """The addresses to begin with."""
        return self.bootstrap.split(",")

    @property
    def protocol(self) -> str:
        """Kafka's name for it."""
        return ("SASL_" if self.login else "") + ("SSL" if self.tls else "PLAINTEXT")

    @property
    def named(self) -> bool:
        """Whether the broker is told who this is, so that rights can depend on it."""
        return self.login is not None or (self.tls is not None and self.tls.certificate is not None)

    @property
    def user(self) -> str:
        """Who this is, as far as it is known here, for messages."""
        match self.login:
            case Password(username=name) | ClientCredentials(client_id=name):
                return name
            case TokenFile(path=path):
                return f"the bearer of {path}"
        certificate = self.tls.certificate if self.tls else None
        return f"the owner of {certificate}" if certificate else "nobody"


Kafka = KafkaConnection | str  # bare addresses: a cluster in plain text that asks nobody's name


def of(kafka: Kafka) -> KafkaConnection:
    """Return a connection."""
    return kafka if isinstance(kafka, KafkaConnection) else KafkaConnection(bootstrap=kafka)


def context(tls: Tls) -> ssl.SSLContext:
    """Return the context of a connection; raises OSError (ssl.SSLError is one) for files that are none."""
    made = ssl.create_default_context(cafile=tls.ca)
    if tls.certificate is not None:
        # Nobody is there to type a passphrase.
        made.load_cert_chain(tls.certificate, tls.key, password=lambda: b"")
    return made


def client_settings(kafka: Kafka) -> Mapping[str, Any]:
    """Return the keyword arguments of aiokafka's clients: the servers and all about security."""
    kafka = of(kafka)
    found: dict[str, Any] = {"bootstrap_servers": kafka.servers, "security_protocol": kafka.protocol}
    if kafka.tls is not None:
        found["ssl_context"] = context(kafka.tls)
    if isinstance(kafka.login, Password):
        found |= {
            "sasl_mechanism": kafka.login.mechanism,
            "sasl_plain_username": kafka.login.username,
            "sasl_plain_password": kafka.login.password,
        }
    elif kafka.login is not None:
        from topics.tokens import source  # noqa: PLC0415  whoever needs no token does not wait for its libraries

        found |= {"sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": source(kafka.login)}
    return found
