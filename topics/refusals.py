"""Why a broker cannot be talked to. Kafka's client says only that it could not; one more try says what it met."""

from __future__ import annotations

import asyncio
import ssl

from aiokafka.conn import create_conn
from aiokafka.errors import (
    AuthenticationFailedError,
    KafkaConnectionError,
    KafkaError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)

from topics.connection import Kafka, KafkaConnection, NoToken, Password, client_settings, of

SECONDS = 2.0  # a server


async def why_not(kafka: Kafka) -> str | None:
    """Return, in one line that names settings, what the first server that answers has against us; none: no answer."""
    kafka = of(kafka)
    settings = dict(client_settings(kafka))
    del settings["bootstrap_servers"]
    for server in kafka.servers:
        host, _, port = server.rpartition(":")
        if not host or not port.isdecimal():
            continue
        try:
            async with asyncio.timeout(SECONDS):
                opened = await create_conn(
                    host.strip("[]"), int(port), request_timeout_ms=int(SECONDS * 1000), **settings
                )
            opened.close()
        except NoToken as error:
            return f"KAFKA_OAUTH_*: {error}"
        except (KafkaError, OSError) as error:
            if why := _why(kafka, server, error):
                return why
        else:
            return None  # it may have been away for a moment
    return None


def _why(kafka: KafkaConnection, server: str, error: Exception) -> str | None:
    if isinstance(error, ssl.SSLError):
        return f"{server}{_of_tls(error)}"
    if isinstance(error, UnsupportedSaslMechanismError):
        mechanism = kafka.login.mechanism if isinstance(kafka.login, Password) else "OAUTHBEARER"
        return f"{server} has no login by {mechanism}: is KAFKA_SASL_MECHANISM right?"
    if isinstance(error, AuthenticationFailedError | SaslAuthenticationFailed):
        right = "KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD_FILE" if isinstance(kafka.login, Password) else "the token"
        return f"{server} refuses the login of {kafka.user}: are {right} right?"
    if isinstance(error, KafkaConnectionError | ConnectionResetError):
        # It took the connection and hung up on the first request, or on the handshake of TLS.
        wants = "a client's certificate (KAFKA_TLS_CERT_FILE), or no TLS" if kafka.tls else "TLS or a login"
        return f"{server} hangs up: does it want {wants}? KAFKA_SECURITY_PROTOCOL is {kafka.protocol}"
    return None


def _of_tls(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f": its certificate is not accepted ({error.verify_message.rstrip('.')}); "
            "KAFKA_TLS_CA_FILE must be of the CA that signed it, and the certificate must name this host"
        )
    if "CERTIFICATE_REQUIRED" in str(error.reason):
        return " wants a client's certificate: set KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE"
    return f" does not speak TLS with us ({error.reason or error}); is KAFKA_SECURITY_PROTOCOL right?"
