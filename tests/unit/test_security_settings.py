"""Settings of logins, certificates and secrets: what goes together, and what is refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import trustme

from streams import settings
from streams.errors import ConfigurationError
from topics.connection import ClientCredentials, KafkaConnection, Password, Tls, TokenFile, client_settings

KAFKA = {settings.KAFKA: "k1:9093,k2:9093"}
LOGIN = {settings.KAFKA_MECHANISM: "SCRAM-SHA-512", settings.KAFKA_USERNAME: "embed", settings.KAFKA_PASSWORD: "pw"}
TOKEN = {
    settings.KAFKA_MECHANISM: "OAUTHBEARER",
    settings.KAFKA_TOKEN_URL: "https://login.example.org/token",
    settings.KAFKA_CLIENT_ID: "embed",
    settings.KAFKA_CLIENT_SECRET: "s",
}
PLAINTEXT = {settings.KAFKA_PROTOCOL: "SASL_PLAINTEXT"}


@pytest.fixture
def files(tmp_path: Path) -> Mapping[str, str]:
    """A CA, a certificate with its key, another key, a secret, an empty file, and a path where nothing is."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca"))
    for name in ("one", "other"):
        made = authority.issue_cert(f"{name}.example.org")
        made.private_key_pem.write_to_path(str(tmp_path / f"{name}-key"))
        made.cert_chain_pems[0].write_to_path(str(tmp_path / f"{name}-cert"))
    (tmp_path / "secret").write_text("s3 cret/\n")
    (tmp_path / "empty").write_text("\n")
    return {path.name: str(path) for path in tmp_path.iterdir()} | {"nothing": str(tmp_path / "nothing")}


def kafka(**given: str) -> KafkaConnection:
    found = settings.given(given).kafka
    assert found is not None
    return found


def test_bare_addresses_are_plain_text_without_a_name() -> None:
    found = kafka(**KAFKA)
    assert found == KafkaConnection(bootstrap="k1:9093,k2:9093")
    assert (found.protocol, found.named, found.servers) == ("PLAINTEXT", False, ["k1:9093", "k2:9093"])
    assert client_settings("k:1") == {"bootstrap_servers": ["k:1"], "security_protocol": "PLAINTEXT"}


def test_a_login_goes_over_tls_unless_something_else_is_said() -> None:
    found = kafka(**KAFKA, **LOGIN)
    assert found.login == Password(mechanism="SCRAM-SHA-512", username="embed", password="pw")
    assert (found.tls, found.protocol, found.named) == (Tls(), "SASL_SSL", True)
    assert client_settings(found)["ssl_context"].check_hostname


def test_a_login_in_plain_text_is_refused_until_it_is_allowed() -> None:
    with pytest.raises(ConfigurationError, match=f"{settings.KAFKA_PROTOCOL} is SASL_PLAINTEXT.*PLAINTEXT_SASL=on"):
        settings.given({**KAFKA, **LOGIN, **PLAINTEXT})
    found = kafka(**KAFKA, **LOGIN, **PLAINTEXT, **{settings.ALLOW_PLAINTEXT_SASL: "on"})
    assert (found.protocol, found.tls) == ("SASL_PLAINTEXT", None)


def test_a_certificate_alone_is_mutual_tls(files: Mapping[str, str]) -> None:
    given = {
        settings.KAFKA_CA: files["ca"],
        settings.KAFKA_CERT: files["one-cert"],
        settings.KAFKA_KEY: files["one-key"],
    }
    found = kafka(**KAFKA, **given)
    assert (found.protocol, found.named, found.login) == ("SSL", True, None)
    assert not kafka(**KAFKA, **{settings.KAFKA_CA: files["ca"]}).named


def test_tokens_come_from_an_endpoint_or_a_file(files: Mapping[str, str]) -> None:
    found = kafka(**KAFKA, **{**TOKEN, settings.KAFKA_SCOPE: "kafka"})
    assert found.login == ClientCredentials(
        url="https://login.example.org/token", client_id="embed", secret="s", scope="kafka"
    )
    given = {settings.KAFKA_MECHANISM: "OAUTHBEARER", settings.KAFKA_TOKEN_FILE: files["secret"]}
    assert kafka(**KAFKA, **given).login == TokenFile(path=Path(files["secret"]))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (LOGIN, "KAFKA_SASL_MECHANISM is set, and KAFKA_BOOTSTRAP_SERVERS is not"),
        ({**KAFKA, settings.KAFKA_PROTOCOL: "TLS"}, "KAFKA_SECURITY_PROTOCOL is 'TLS'; it must be one of PLAINTEXT"),
        (
            {**KAFKA, **LOGIN, settings.KAFKA_PROTOCOL: "SSL"},
            "KAFKA_SASL_MECHANISM is set, and KAFKA_SECURITY_PROTOCOL",
        ),
        ({**KAFKA, **LOGIN, settings.KAFKA_MECHANISM: "GSSAPI"}, "KAFKA_SASL_MECHANISM is 'GSSAPI'; it must be one of"),
        ({**KAFKA, **LOGIN, settings.KAFKA_MECHANISM: ""}, "KAFKA_SASL_MECHANISM is not set"),
        ({**KAFKA, **LOGIN, settings.KAFKA_USERNAME: ""}, "KAFKA_SASL_USERNAME is not set"),
        ({**KAFKA, **LOGIN, settings.KAFKA_PASSWORD: ""}, "KAFKA_SASL_PASSWORD_FILE is not set"),
        (
            {**KAFKA, **LOGIN, settings.KAFKA_PASSWORD_FILE: "{secret}"},
            "KAFKA_SASL_PASSWORD and KAFKA_SASL_PASSWORD_FILE",
        ),
        (
            {**KAFKA, **LOGIN, settings.KAFKA_PASSWORD: "", settings.KAFKA_PASSWORD_FILE: "{empty}"},
            "KAFKA_SASL_PASSWORD_FILE: .* is empty",
        ),
        (
            {**KAFKA, **LOGIN, settings.KAFKA_PASSWORD: "", settings.KAFKA_PASSWORD_FILE: "{nothing}"},
            "KAFKA_SASL_PASSWORD_FILE: .* cannot be read",
        ),
        ({**KAFKA, settings.KAFKA_CA: "{nothing}"}, "KAFKA_TLS_CA_FILE: .* cannot be read"),
        ({**KAFKA, settings.KAFKA_CA: "{secret}"}, "KAFKA_TLS_CA_FILE: .* holds no certificate"),
        ({**KAFKA, settings.KAFKA_KEY: "{one-key}"}, "KAFKA_TLS_KEY_FILE is set, and KAFKA_TLS_CERT_FILE is not"),
        (
            {**KAFKA, settings.KAFKA_CERT: "{one-cert}", settings.KAFKA_KEY: "{other-key}"},
            "KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE: .* are no certificate and its key",
        ),
        ({**KAFKA, **TOKEN, settings.KAFKA_TOKEN_URL: ""}, "KAFKA_OAUTH_TOKEN_URL is not set; OAUTHBEARER needs"),
        ({**KAFKA, **TOKEN, settings.KAFKA_CLIENT_SECRET: ""}, "KAFKA_OAUTH_CLIENT_SECRET_FILE is not set"),
        ({**KAFKA, **TOKEN, settings.KAFKA_TOKEN_URL: "http://login/t"}, "KAFKA_OAUTH_TOKEN_URL is http"),
        ({**KAFKA, **TOKEN, settings.KAFKA_TOKEN_URL: "login/t"}, "KAFKA_OAUTH_TOKEN_URL is no URL"),
        ({**KAFKA, **TOKEN, settings.KAFKA_TOKEN_FILE: "{secret}"}, "KAFKA_OAUTH_TOKEN_FILE and KAFKA_OAUTH_TOKEN_URL"),
        ({settings.POSTGRES_PASSWORD_FILE: "{secret}"}, "DATABASE_PASSWORD_FILE is set, and DATABASE_URL is not"),
        (
            {settings.POSTGRES: "postgresql://u:p@h/d", settings.POSTGRES_PASSWORD_FILE: "{secret}"},
            "DATABASE_URL has a password, and DATABASE_PASSWORD_FILE is set",
        ),
        ({settings.REDIS: "redis://h", settings.REDIS_CA: "{ca}"}, "REDIS_CA_FILE is set, and REDIS_URL is no rediss"),
        ({settings.QDRANT_KEY: "k", settings.QDRANT_KEY_FILE: "{secret}"}, "QDRANT_API_KEY and QDRANT_API_KEY_FILE"),
        ({settings.QDRANT_CA: "{secret}"}, "QDRANT_CA_FILE: .* holds no certificate"),
        ({settings.LOG_LEVEL: "LOUD"}, "RANKSTREAM_LOG_LEVEL is 'LOUD'; use DEBUG"),
    ],
)
def test_what_does_not_go_together_is_one_line_that_names_the_setting(
    files: Mapping[str, str], given: dict[str, str], says: str
) -> None:
    environment = {name: value.format_map(files) if "{" in value else value for name, value in given.items()}
    _, problems = settings.read(environment)
    assert len(problems) == 1
    with pytest.raises(ConfigurationError, match=says):
        settings.given(environment)


def test_all_that_is_wrong_is_told_at_once(files: Mapping[str, str]) -> None:
    wrong = {
        settings.BROKER: "nats",
        settings.HEALTH: "x",
        settings.SESSION: "never",
        settings.KAFKA_MECHANISM: "PLAIN",
        settings.REDIS_CA: files["secret"],
        settings.QDRANT_KEY_FILE: files["empty"],
        settings.LLM_MODEL: "m",
    }
    found, problems = settings.read({**wrong, settings.POSTGRES: "postgresql://h/d"})
    assert sorted(name for problem in problems for name in wrong if problem.startswith(name)) == sorted(
        {*wrong} - {settings.LLM_MODEL}
    )
    assert len(problems) == len(wrong)
    assert found.postgres == "postgresql://h/d"
    with pytest.raises(settings.WrongSettings) as raised:
        settings.given(wrong)
    assert raised.value.problems == problems


def test_a_password_of_a_file_becomes_part_of_the_address(files: Mapping[str, str]) -> None:
    secret = {settings.POSTGRES_PASSWORD_FILE: files["secret"], settings.REDIS_PASSWORD_FILE: files["secret"]}
    given = {
        settings.POSTGRES: "postgresql://rs@db:5432/d?sslmode=verify-full",
        settings.REDIS: "rediss://kept@r:6379/0",
    }
    found = settings.given({**secret, **given})
    assert found.postgres == "postgresql://rs:s3%20cret%2F@db:5432/d?sslmode=verify-full"
    assert found.redis == "rediss://kept:s3%20cret%2F@r:6379/0"
    pairs = settings.given({**secret, settings.POSTGRES: "host=db user=rs", settings.REDIS: "redis://r"})
    assert (pairs.postgres, pairs.redis) == ("host=db user=rs password='s3 cret/'", "redis://:s3%20cret%2F@r")
    trusted = settings.given({settings.REDIS: "rediss://r:1/0?x=1", settings.REDIS_CA: files["ca"]}).redis
    assert trusted is not None
    assert trusted.startswith("rediss://r:1/0?x=1&ssl_ca_certs=%2F")


def test_no_secret_is_in_what_is_printed_of_the_settings(files: Mapping[str, str]) -> None:
    environment = {
        **KAFKA,
        **LOGIN,
        settings.KAFKA_PASSWORD: "hidden",
        settings.QDRANT_KEY: "hidden",
        settings.POSTGRES: "postgresql://u:hidden@h/d",
        settings.REDIS: "redis://:hidden@h",
        settings.LLM_URL: "http://l/v1",
        settings.LLM_MODEL: "m",
        settings.LLM_KEY: "hidden",
    }
    assert "hidden" not in repr(settings.given(environment))
    assert "hidden" not in repr(kafka(**KAFKA, **{**TOKEN, settings.KAFKA_CLIENT_SECRET: "hidden"}))
