"""Settings as `rankstream check` prints them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import trustme

from streams import settings
from streams.cli import effective
from streams.secret_urls import MASK


def test_every_setting_is_there_by_its_name_and_no_secret_by_its_value() -> None:
    hidden = "hidden"
    environment = {
        settings.KAFKA: "k:1",
        settings.KAFKA_MECHANISM: "PLAIN",
        settings.KAFKA_USERNAME: "me",
        settings.KAFKA_PASSWORD: hidden,
        settings.QDRANT: f"https://u:{hidden}@q:6333",
        settings.QDRANT_KEY: hidden,
        settings.POSTGRES: f"postgresql://u:{hidden}@h/d",
        settings.REDIS: f"redis://:{hidden}@h",
        settings.LLM_URL: f"http://u:{hidden}@l/v1",
        settings.LLM_MODEL: "m",
        settings.LLM_KEY: hidden,
        settings.JWT_KEYS: f"https://u:{hidden}@i/jwks",
        settings.JWT_ISSUER: "i",
        settings.JWT_AUDIENCE: "a",
    }
    found = dict(effective.lines(settings.given(environment)))
    known = {value for name, value in vars(settings).items() if name.isupper() and isinstance(value, str)}
    assert found.keys() <= known
    assert found.keys() >= environment.keys()
    assert hidden not in str(found)
    assert [name for name, value in found.items() if MASK in value] == [
        settings.KAFKA_PASSWORD,
        settings.QDRANT,
        settings.QDRANT_KEY,
        settings.POSTGRES,
        settings.REDIS,
        settings.LLM_URL,
        settings.LLM_KEY,
        settings.JWT_KEYS,
    ]


def test_every_field_of_the_settings_is_printed() -> None:
    made = settings.given({})
    fields = {field.name for field in dataclasses.fields(made)} - {"fast_fetch"}
    # Kafka without addresses is one line, a language model three, tokens four.
    assert len(list(effective.lines(made))) == len(fields) + 2 + 3


def test_a_variable_that_looks_like_a_setting_and_is_none_is_told_with_what_it_may_be_meant_to_be() -> None:
    environment = {
        "RANKSTREAM_EMBEDER": "x",
        "KAFKA_SASL_USER": "x",
        "RANKSTREAM_IMAGE": "x",
        "KAFKA_HOME": "/",
        "A": "",
    }
    known = {settings.EMBEDDER: "x", settings.KAFKA_USERNAME: "x"}
    assert list(effective.unknown({**environment, **known})) == [
        ("KAFKA_SASL_USER", settings.KAFKA_USERNAME),
        ("RANKSTREAM_EMBEDER", settings.EMBEDDER),
    ]
    assert list(effective.unknown({"KAFKA_TLS_1234567890_1234567890"})) == [("KAFKA_TLS_1234567890_1234567890", None)]


def test_a_login_by_token_is_printed_with_its_scope_and_its_ca(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(str(ca))
    environment = {
        settings.KAFKA: "k:1",
        settings.KAFKA_MECHANISM: "OAUTHBEARER",
        settings.KAFKA_TOKEN_URL: "https://login.example.org/token",
        settings.KAFKA_CLIENT_ID: "embed",
        settings.KAFKA_CLIENT_SECRET: "hidden",
        settings.KAFKA_SCOPE: "kafka",
        settings.KAFKA_TOKEN_CA: str(ca),
    }
    found = dict(effective.lines(settings.given(environment)))
    assert {name: found[name] for name in environment} == {**environment, settings.KAFKA_CLIENT_SECRET: MASK}
    del environment[settings.KAFKA_SCOPE]
    assert dict(effective.lines(settings.given(environment)))[settings.KAFKA_SCOPE] == "-"
