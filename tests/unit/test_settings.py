"""Settings that are read in a way of their own."""

from __future__ import annotations

import pytest

from streams import settings
from streams.errors import ConfigurationError


@pytest.mark.parametrize(
    ("value", "reranker"),
    [(None, None), ("", None), ("none", None), (" None ", None), ("BAAI/bge", "BAAI/bge")],
)
def test_nothing_is_reranked_unless_a_reranker_is_named(value: str | None, reranker: str | None) -> None:
    environment = {} if value is None else {settings.RERANKER: value}
    assert settings.given(environment).reranker == reranker
    assert settings.load({**environment, settings.DATA_DIR: "/nonexistent"}).reranker == reranker


def test_a_running_stack_does_not_hide_it(tmp_path: object) -> None:
    environment = {settings.DATA_DIR: str(tmp_path), settings.RERANKER: "some"}
    settings.endpoints_file(settings.data_dir(environment)).write_text('{"kafka": "k:1"}')
    found = settings.load(environment)
    assert (str(found.kafka), found.reranker) == ("k:1", "some")


@pytest.mark.parametrize(
    ("value", "health"),
    [
        (None, None),
        ("", None),
        ("0.0.0.0:8080", ("0.0.0.0", 8080)),
        ("[::]:80", ("::", 80)),
        ("localhost:0", ("localhost", 0)),
    ],
)
def test_health_is_served_where_an_address_says_so(value: str | None, health: tuple[str, int] | None) -> None:
    assert settings.given({} if value is None else {settings.HEALTH: value}).health == health


@pytest.mark.parametrize("value", ["8080", ":8080", "host:", "host:http", "host:70000"])
def test_an_address_that_is_none_is_named(value: str) -> None:
    with pytest.raises(ConfigurationError, match=f"RANKSTREAM_HEALTH is '{value}'; it must be host:port"):
        settings.given({settings.HEALTH: value})


@pytest.mark.parametrize(("value", "rate"), [(None, 2_000.0), ("", 2_000.0), ("0", 0.0), ("150.5", 150.5)])
def test_a_tenant_has_a_quota_unless_it_is_set_to_none(value: str | None, rate: float) -> None:
    assert settings.given({} if value is None else {settings.TENANT_QUOTA: value}).tenant_quota == rate


@pytest.mark.parametrize("value", ["many", "-1", "nan", "inf"])
def test_a_quota_that_is_no_number_is_refused_by_name(value: str) -> None:
    with pytest.raises(ConfigurationError, match=f"RANKSTREAM_TENANT_QUOTA is '{value}'; it must be a number"):
        settings.given({settings.TENANT_QUOTA: value})


JWT = {
    settings.JWT_KEYS: "https://id.example/jwks",
    settings.JWT_ISSUER: "https://id.example",
    settings.JWT_AUDIENCE: "us",
}


def test_tokens_are_checked_when_all_is_set_that_they_are_checked_by() -> None:
    assert settings.given({}).jwt is None
    found = settings.given({**JWT, settings.JWT_CLAIMS: "org,bots,scope"}).jwt
    assert found == settings.Jwt(
        keys="https://id.example/jwks", issuer="https://id.example", audience="us", claims=("org", "bots", "scope")
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({settings.JWT_AUDIENCE: ""}, settings.JWT_AUDIENCE),
        ({settings.JWT_ISSUER: ""}, settings.JWT_ISSUER),
        ({settings.JWT_KEYS: ""}, settings.JWT_KEYS),
        ({settings.JWT_KEYS: "http://id.example/jwks"}, "must be https:// or a file"),
        ({settings.JWT_CLAIMS: "tenant"}, "must name three claims"),
        (dict.fromkeys(JWT, "") | {settings.JWT_CLAIMS: "a,b,c"}, "is set without"),
    ],
)
def test_half_a_setting_of_tokens_is_refused(changed: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        settings.given({**JWT, **changed})


@pytest.mark.parametrize(("text", "rate"), [("", 50.0), ("0", 0.0), ("7.5", 7.5)])
def test_a_rate_of_requests_is_read(text: str, rate: float) -> None:
    assert settings.given({settings.HTTP_RATE: text}).http_rate == rate


@pytest.mark.parametrize(
    ("value", "endpoint"),
    [(None, None), ("", None), ("http://otel:4318", "http://otel:4318"), ("https://otel/", "https://otel")],
)
def test_telemetry_is_off_unless_an_endpoint_is_set(value: str | None, endpoint: str | None) -> None:
    assert settings.given({} if value is None else {settings.TELEMETRY: value}).telemetry == endpoint


@pytest.mark.parametrize(
    "value", ["otel:4318", "grpc://otel:4317", "http://me:secret@otel:4318", "http://otel/v1/traces"]
)
def test_an_endpoint_that_is_none_is_refused_without_being_repeated(value: str) -> None:
    with pytest.raises(ConfigurationError, match="RANKSTREAM_TELEMETRY must be a URL of OTLP over HTTP") as raised:
        settings.given({settings.TELEMETRY: value})
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("value", ["all", "-0.1", "1.1", "nan"])
def test_a_share_of_traces_that_is_none_is_refused_by_name(value: str) -> None:
    with pytest.raises(ConfigurationError, match=f"RANKSTREAM_TELEMETRY_SAMPLE is '{value}'; it must be a share"):
        settings.given({settings.TELEMETRY_SAMPLE: value})
