"""Where the tokens of an OAUTHBEARER login come from: a token endpoint, or a file."""

from __future__ import annotations

import asyncio
import functools
import time
from urllib.parse import quote_plus

import aiohttp
from aiokafka.abc import AbstractTokenProvider

from topics.connection import ClientCredentials, NoToken, Tls, TokenFile, context

SECONDS = 5.0  # that a token endpoint may take
LIFE = 60.0  # seconds, of a token whose endpoint does not say
USED = 0.8  # of a token's life, after which a new one is asked for


class Endpoint(AbstractTokenProvider):  # type: ignore[misc]
    """Asks a token endpoint, and keeps the token for most of its life."""

    def __init__(self, login: ClientCredentials) -> None:
        self._login = login
        self._token, self._until = "", 0.0

    async def token(self) -> str:
        """Return a token that is valid for a while; raise NoToken. Several loops may ask: each then asks for itself."""
        if time.monotonic() >= self._until:
            self._token, life = await self._fetch()
            self._until = time.monotonic() + USED * life
        return self._token

    async def _fetch(self) -> tuple[str, float]:
        login = self._login
        form = {"grant_type": "client_credentials", **({"scope": login.scope} if login.scope else {})}
        # RFC 6749, 2.3.1: both are encoded as in a form before they are joined.
        auth = aiohttp.encode_basic_auth(quote_plus(login.client_id), quote_plus(login.secret))
        trust = context(Tls(ca=login.ca)) if login.ca else True
        try:
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=SECONDS)) as session,
                # A redirect would carry the secret somewhere else.
                session.post(
                    login.url, data=form, headers={"Authorization": auth}, ssl=trust, allow_redirects=False
                ) as answer,
            ):
                if answer.status != 200:
                    raise NoToken(f"{login.url} gives {login.client_id} no token: HTTP {answer.status}")
                said = await answer.json(content_type=None)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            why = str(error) or type(error).__name__
            raise NoToken(f"{login.url} gives no token: {why}") from error
        token = said.get("access_token") if isinstance(said, dict) else None
        if not isinstance(token, str) or not token:
            raise NoToken(f"{login.url} answers without an access_token")
        life = said.get("expires_in")
        return token, float(life) if isinstance(life, int | float) and life > 0 else LIFE


class File(AbstractTokenProvider):  # type: ignore[misc]
    """Reads a file each time: whoever writes it keeps it fresh."""

    def __init__(self, login: TokenFile) -> None:
        self._path = login.path

    async def token(self) -> str:
        """Return what the file holds now; raise NoToken."""
        try:
            token = (await asyncio.to_thread(self._path.read_text)).strip()
        except (OSError, UnicodeDecodeError) as error:
            raise NoToken(f"{self._path} cannot be read ({type(error).__name__})") from error
        if not token:
            raise NoToken(f"{self._path} is empty")
        return token


@functools.cache
def source(login: ClientCredentials | TokenFile) -> AbstractTokenProvider:
    """Return the source of a login's tokens, one for all connections of this process."""
    return Endpoint(login) if isinstance(login, ClientCredentials) else File(login)
