"""Logins and certificates on real Kafka: each way in works, and what is wrong is told in one line that names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from aiohttp import web

from streams import settings
from streams.app import _app
from streams.errors import ConfigurationError
from streams.gateways.broker import open_producer
from streams.processors.catalogue import CHUNK
from tests.integration.security.broker import Files, SecuredKafka, password_of, token_of
from topics import admin
from topics.catalogue import DOCUMENT_CHANGES
from topics.connection import KafkaConnection, Password, Tls

Environment = dict[str, str]


def scram(bits: int) -> Callable[[SecuredKafka, Path], Environment]:
    def environment(secured: SecuredKafka, folder: Path) -> Environment:
        (folder / "password").write_text(f"{password_of('clients')}\n")
        return {
            settings.KAFKA: secured.at("login"),
            settings.KAFKA_CA: str(secured.files.ca),
            settings.KAFKA_MECHANISM: f"SCRAM-SHA-{bits}",
            settings.KAFKA_USERNAME: "clients",
            settings.KAFKA_PASSWORD_FILE: str(folder / "password"),
        }

    return environment


def plain(secured: SecuredKafka, folder: Path) -> Environment:
    return {**scram(256)(secured, folder), settings.KAFKA_MECHANISM: "PLAIN"}


def token(secured: SecuredKafka, folder: Path) -> Environment:
    (folder / "token").write_text(token_of("clients"))
    return {
        settings.KAFKA: secured.at("login"),
        settings.KAFKA_CA: str(secured.files.ca),
        settings.KAFKA_MECHANISM: "OAUTHBEARER",
        settings.KAFKA_TOKEN_FILE: str(folder / "token"),
    }


def certificate(secured: SecuredKafka, folder: Path) -> Environment:
    own, key = secured.files.signed("clients.example.org", common_name="clients")
    return {
        settings.KAFKA: secured.at("certificate"),
        settings.KAFKA_CA: str(secured.files.ca),
        settings.KAFKA_CERT: str(own),
        settings.KAFKA_KEY: str(key),
    }


def unencrypted(secured: SecuredKafka, folder: Path) -> Environment:
    found = scram(512)(secured, folder)
    del found[settings.KAFKA_CA]
    return {
        **found,
        settings.KAFKA: secured.at("bare"),
        settings.KAFKA_PROTOCOL: "SASL_PLAINTEXT",
        settings.ALLOW_PLAINTEXT_SASL: "on",
    }


WAYS = {
    "scram-512": scram(512),
    "scram-256": scram(256),
    "plain": plain,
    "token": token,
    "certificate": certificate,
    "unencrypted": unencrypted,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_each_way_in_lets_its_user_write_what_it_may(
    secured: SecuredKafka, tmp_path: Path, way: Callable[[SecuredKafka, Path], Environment]
) -> None:
    found = settings.given(way(secured, tmp_path))
    assert found.kafka is not None
    producer = await open_producer(found.kafka, linger_ms=0)
    try:
        await producer.send_and_wait(DOCUMENT_CHANGES.name, b"not a document", partition=0)
    finally:
        await producer.stop()
    # The same user in Faust: a client that starts has logged in.
    app = _app(CHUNK, replace(found, data_dir=tmp_path))
    await app.producer.start()
    await app.producer.stop()


async def test_a_token_of_an_endpoint_lets_its_client_in(secured: SecuredKafka, tmp_path: Path) -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"access_token": token_of("clients"), "expires_in": 600})

    app = web.Application()
    app.router.add_post("/token", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    [(host, port)] = runner.addresses
    found = settings.given(
        {
            settings.KAFKA: secured.at("login"),
            settings.KAFKA_CA: str(secured.files.ca),
            settings.KAFKA_MECHANISM: "OAUTHBEARER",
            settings.KAFKA_TOKEN_URL: f"http://{host}:{port}/token",
            settings.KAFKA_CLIENT_ID: "clients",
            settings.KAFKA_CLIENT_SECRET: "not a secret",
            settings.ALLOW_PLAINTEXT_SASL: "on",
        }
    )
    try:
        app_of = _app(CHUNK, replace(found, data_dir=tmp_path))
        await app_of.producer.start()
        await app_of.producer.send_and_wait(
            DOCUMENT_CHANGES.name, key=b"k", value=b"not a document", partition=0, timestamp=None, headers={}
        )
        await app_of.producer.stop()
    finally:
        await runner.cleanup()
    # Without the endpoint nobody gets in, and it is named.
    other = replace(found.kafka, login=replace(found.kafka.login, client_id="others"))  # type: ignore[type-var, arg-type]
    with pytest.raises(ConfigurationError, match=f"KAFKA_OAUTH_.*http://{host}:{port}/token gives no token"):
        await open_producer(other, linger_ms=0)


def strangers(secured: SecuredKafka, folder: Path) -> KafkaConnection:
    return replace(secured.as_user("clients"), tls=Tls(ca=Files(folder / "others").ca))


def nobodys_certificate(secured: SecuredKafka, folder: Path) -> KafkaConnection:
    return KafkaConnection(bootstrap=secured.at("certificate"), tls=Tls(ca=secured.files.ca))


WRONG = {
    "another CA": (strangers, "its certificate is not accepted ("),
    "no CA": (
        lambda secured, _: replace(secured.as_user("clients"), tls=Tls()),
        "KAFKA_TLS_CA_FILE must be of the CA that signed it",
    ),
    "wrong password": (
        lambda secured, _: secured.as_user("clients", password="guessed"),
        "refuses the login of clients: are KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD_FILE right?",
    ),
    "unknown user": (lambda secured, _: secured.as_user("mallory"), "refuses the login of mallory"),
    "no such mechanism": (
        lambda secured, _: KafkaConnection(
            bootstrap=secured.at("bare"), login=Password(mechanism="PLAIN", username="clients", password="x")
        ),
        "has no login by PLAIN: is KAFKA_SASL_MECHANISM right?",
    ),
    "no certificate": (nobodys_certificate, "a client's certificate"),
    "no TLS": (
        lambda secured, _: KafkaConnection(bootstrap=secured.at("login")),
        "hangs up: does it want TLS or a login? KAFKA_SECURITY_PROTOCOL is PLAINTEXT",
    ),
    "TLS where none is": (
        lambda secured, _: KafkaConnection(bootstrap=secured.at("open"), tls=Tls(ca=secured.files.ca)),
        "KAFKA_SECURITY_PROTOCOL",
    ),
}


@pytest.mark.parametrize(("made", "says"), WRONG.values(), ids=WRONG)
async def test_what_keeps_us_out_is_one_line_that_names_the_setting(
    secured: SecuredKafka, tmp_path: Path, made: Callable[[SecuredKafka, Path], KafkaConnection], says: str
) -> None:
    kafka = made(secured, tmp_path)
    for attempt in (partial(open_producer, linger_ms=0), admin.check):
        with pytest.raises((ConfigurationError, admin.AdminError)) as refused:
            await attempt(kafka)
        assert says in str(refused.value)
        assert kafka.bootstrap in str(refused.value)
        assert "\n" not in str(refused.value)
