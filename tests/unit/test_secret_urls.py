"""Passwords in URLs: whatever signs they have, nothing that we say repeats them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from streams import secret_urls, settings
from streams.adapters import embedder_specs, postgres, qdrant, redis_answers
from streams.cli import checks, effective, probe, status
from streams.cli.checks import Checks
from streams.errors import ConfigurationError
from streams.gateways import servers
from streams.secret_urls import MASK
from streams.settings import Settings

SPLITTING = "/?#@[]"  # the signs that no name and no password may have as they are
SIGNS = [*SPLITTING, ":", "%", "&", "=", "\\", " ", "'", '"', "]x[", "/x?y#z@", "?a=b&", "ü", "℀"]
HALVES = ("s3cr", "etXYZ")  # what stands before and after the sign; neither may be seen
# Port 1 of this machine: nobody answers there.
URLS = {
    settings.POSTGRES: "postgresql://rankstream:{}@127.0.0.1:1/rankstream",
    settings.REDIS: "redis://:{}@127.0.0.1:1/0",
    settings.QDRANT: "http://rankstream:{}@127.0.0.1:1",
}
FIELDS = {settings.POSTGRES: "postgres", settings.REDIS: "redis", settings.QDRANT: "qdrant"}
OTHERS = {
    settings.LLM_URL: {settings.LLM_MODEL: "m"},
    settings.JWT_KEYS: {settings.JWT_ISSUER: "i", settings.JWT_AUDIENCE: "a"},
    settings.KAFKA_TOKEN_URL: {
        settings.KAFKA: "k:1",
        settings.KAFKA_MECHANISM: "OAUTHBEARER",
        settings.KAFKA_CLIENT_ID: "c",
        settings.KAFKA_CLIENT_SECRET: "s",
    },
}


def cases() -> Iterator[tuple[str, str]]:
    """Yield each setting with its URL, for each sign."""
    for setting, url in URLS.items():
        for sign in SIGNS:
            yield setting, url.format(sign.join(HALVES))
        # The password may begin with the sign, end with it, and have more.
        for sign in SPLITTING:
            yield setting, url.format(sign + sign.join(HALVES) + sign)


def hides(*said: object) -> bool:
    text = " ".join(map(str, said))
    return not any(half in text for half in HALVES)


def ways(setting: str, url: str) -> Iterator[Callable[[], Awaitable[Any]]]:
    """Yield everything that is asked with a URL and says what came of it."""
    found = replace(settings.given({}), **{FIELDS[setting]: url})
    look = Checks(found, [], ["rankstream_reader"])
    if setting == settings.POSTGRES:
        yield partial(postgres.open_pool, url)
        yield partial(servers.postgres, url)
        yield partial(checks._one, "postgres", look._postgres)
        yield partial(checks._one, "rights on postgres", look._postgres_rights)
        yield partial(status._state, url, setting, servers.postgres)
    elif setting == settings.REDIS:
        yield partial(_opened, url)
        yield partial(servers.valkey, url)
        yield partial(checks._one, "redis", look._redis)
        yield partial(status._state, url, setting, servers.valkey)
    else:
        yield partial(qdrant.open_client, url)
        yield partial(servers.qdrant, url, key=None)
        yield partial(checks._one, "qdrant", look._qdrant)
        yield partial(status._state, url, setting, partial(servers.qdrant, key=None))


async def _opened(url: str) -> None:
    answers = redis_answers.open_answers(url)
    try:
        await answers.get("x")
    finally:
        await answers.close()


@pytest.mark.parametrize(("setting", "url"), list(cases()))
async def test_no_password_is_repeated_by_what_a_server_is_asked_with(setting: str, url: str) -> None:
    for ask in ways(setting, url):
        try:
            said: object = await ask()
        except Exception as error:
            said = error
            assert hides(error.__cause__), ask
        assert said, f"{ask} says nothing of a server that is not there"
        assert hides(said), ask


@pytest.mark.parametrize(("setting", "url"), list(cases()))
def test_no_password_is_shown_by_the_settings(setting: str, url: str) -> None:
    found, problems = settings.read({setting: url})
    assert hides(problems, dict(effective.lines(found)), repr(found))
    assert hides(effective.shown(FIELDS[setting], url))
    assert hides(dict(effective.lines(replace(Settings(data_dir=Path()), **{FIELDS[setting]: url}))))


@pytest.mark.parametrize("sign", SPLITTING)
@pytest.mark.parametrize("setting", [*URLS, *OTHERS])
def test_a_sign_that_ends_a_password_is_refused_by_name_and_taken_encoded(setting: str, sign: str) -> None:
    url = URLS.get(setting, "https://u:{}@h/x")
    others = OTHERS.get(setting, {})
    with pytest.raises(ConfigurationError, match=f"^{setting} cannot be read as a URL: percent-encode") as raised:
        settings.given({**others, setting: url.format(sign.join(HALVES))})
    assert hides(raised.value)
    settings.given({**others, setting: url.format(f"%{ord(sign):02X}".join(HALVES))})


@pytest.mark.parametrize("sign", SPLITTING)
def test_nor_is_it_taken_beside_a_file_of_the_password(sign: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("other")
    url = f"postgresql://u:{sign.join(HALVES)}@h/db"
    for setting, file in (
        (settings.POSTGRES, settings.POSTGRES_PASSWORD_FILE),
        (settings.REDIS, settings.REDIS_PASSWORD_FILE),
    ):
        with pytest.raises(ConfigurationError, match=f"^{setting} cannot be read as a URL") as raised:
            settings.given({setting: url, file: str(tmp_path / "file")})
        assert hides(raised.value)


@pytest.mark.parametrize("sign", SPLITTING)
def test_nor_is_it_repeated_of_a_url_that_is_no_setting(sign: str) -> None:
    url = f"https://u:{sign.join(HALVES)}@h"
    with pytest.raises(ConfigurationError) as raised:
        probe._check_url(f"{url}/?x")
    assert hides(raised.value)
    spec = embedder_specs.Spec(kind="openai", model="m", dimension=3, url=url)
    with pytest.raises(ConfigurationError) as raised:
        embedder_specs._check_url("embedders.x", spec)
    assert hides(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:p@h:5/d?sslmode=require",
        "postgresql://u:a:b@h/d",  # RFC 3986 allows a colon there
        "postgresql://h1:5432,h2:5433/d?target_session_attrs=read-write",
        "postgresql://u:p@[::1]:5432/d",
        "postgresql://u:p@%2Fvar%2Frun/d",
        "postgresql://postgres:@/d?host=/home/me@work/run",
        "postgresql:///d?host=@abstract",
        "host=h password=a/b@c",
        "unix:///run/me@work/redis.sock?db=1",
        "rediss://me:p%2Fw@h:6379/0?ssl_ca_certs=/ca",
        "https://q.example.org/some/prefix",
        "localhost:6333",
    ],
)
def test_what_can_be_read_is_left_as_it_is(url: str) -> None:
    assert secret_urls.checked(url, "X") == url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:p@h:5/d?sslmode=require", f"postgresql://u:{MASK}@h:5/d?sslmode=require"),
        ("postgresql://u@h/d?password=p&sslmode=x", f"postgresql://u@h/d?password={MASK}&sslmode=x"),
        ("postgresql://u:p/w@h/d", f"postgresql://{MASK}"),
        ("postgresql://u:p@w@h/d", f"postgresql://{MASK}"),
        ("postgresql://u:p@x?k=w@h/d", f"postgresql://u:{MASK}@x?k={MASK}"),
        ("host=h password='a b\\' c' user=u", f"host=h password={MASK} user=u"),
        ("host=h password=p", f"host=h password={MASK}"),
        ("rediss://:p@h/0", f"rediss://:{MASK}@h/0"),
        ("redis://:p#w@h/0", f"redis://{MASK}"),
        ("redis://h/0", "redis://h/0"),
        ("https://q:6333?api_key=k&token=t", f"https://q:6333?api_key={MASK}&token={MASK}"),
        ("u:p@q:6333", f"{MASK}@q:6333"),
        ("/run/keys.json", "/run/keys.json"),
    ],
)
def test_passwords_are_masked_wherever_they_stand(url: str, shown: str) -> None:
    assert secret_urls.masked(url) == shown
