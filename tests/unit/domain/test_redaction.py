"""Secrets are not shown, and nothing steers a terminal."""

from __future__ import annotations

import time

import pytest

from streams.domain.redaction import HIDDEN, escaped, is_secret_name, redacted

SECRET = "hunter2-Zq9"


@pytest.mark.parametrize(
    "text",
    [
        f"connection to postgres://rank:{SECRET}@db:5432/x failed",
        f'{{"api_key": "{SECRET}", "a": 1}}',
        f'{{"API-Key": "{SECRET}"}}',
        f'{{"db_password":"{SECRET}\\" x"}}',
        f'{{"password": "{SECRET}',
        f"password={SECRET}&x=1",
        f"client_secret: {SECRET}",
        f"Authorization: Bearer {SECRET}.abc",
        f"bearer {SECRET}",
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str) -> None:
    assert SECRET not in redacted(text)
    assert HIDDEN in redacted(text)


@pytest.mark.parametrize(
    "text",
    [
        "invalid digit at 3: password reset needs a new link",
        '{"title": "Secrets", "doc_id": "tokens/a"}',
        "https://help.example/a:b@c",
        "http://db:5432/x",
    ],
)
def test_what_is_none_stays(text: str) -> None:
    assert redacted(text) == text


def test_headers_are_judged_by_their_names() -> None:
    assert all(is_secret_name(name) for name in ("Authorization", "x-api-key", "Set-Cookie", "my.token", "db_password"))
    assert not any(is_secret_name(name) for name in ("traceparent", "ce_source", "kafka_dlt-original-topic"))


def test_bytes_are_readable_and_steer_nothing() -> None:
    assert escaped("Ω\n\tx".encode()) == "Ω\n\tx"
    assert escaped(b"\xff\x00\x1b[2J\x9b\r") == "\\xff\\x00\\x1b[2J\\x9b\\r"
    assert escaped("a\u202eb\u2028\x85".encode()) == "a\\u202eb\\u2028\\x85"


def test_a_long_value_without_spaces_takes_no_time() -> None:
    begun = time.perf_counter()
    redacted("token" * 800)
    redacted("a" * 4_000)
    redacted('"' * 4_000)
    assert time.perf_counter() - begun < 5
