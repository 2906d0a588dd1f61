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
        f"api key: {SECRET}",
        f"postgres://rank:p@{SECRET}/{SECRET}@db:5432/x failed",
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
        "http://db:5432/x/a@b",
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


UNITS = [
    "a.", "a", '"', "token", "token.", "token ", "token:", "token= ", '"token":"', '"token":"\\', "://a:", "a://", "a@",
    "bearer ", "api key", "\\\n", "x://u:p/",
]  # fmt: skip


@pytest.mark.parametrize("unit", [*UNITS, *(f"token={unit}" for unit in (" ", "\t\n"))])
def test_ten_times_the_text_is_about_ten_times_the_work(unit: str) -> None:
    def least(characters: int) -> float:
        text = (unit * characters)[:characters]
        spent = []
        for _ in range(5):
            begun = time.process_time()
            redacted(text)
            is_secret_name(text + "!")
            spent.append(time.process_time() - begun)
        return min(spent)

    # Work that grows with the square takes a hundred times as long.
    assert least(10_000) < 40 * max(least(1_000), 0.0005)


def test_a_run_of_blanks_after_a_name_is_read_once() -> None:
    for name in ("token", "token=", '"token":', "bearer"):
        assert redacted(name + " " * 50_000) == name + " " * 50_000


@pytest.mark.parametrize("before", [0, 1, 39, 40, 41, 200])
def test_a_name_may_have_any_length_before_its_word(before: int) -> None:
    assert SECRET not in redacted(f"{'a' * before}_password={SECRET}")
    assert SECRET not in redacted(f'{{"{"a." * before}password": "{SECRET}"}}')
