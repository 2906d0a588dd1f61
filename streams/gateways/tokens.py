"""JSON Web Tokens of an identity provider: signature, issuer, audience, time, and three claims of ours.

Source: RFC 7519 and RFC 8725 (best current practices): the algorithms are ours to choose, never the token's, and all of
them are asymmetric, so that a public key is never taken for a shared secret.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import aiohttp
import jwt

from streams.domain import api_keys
from streams.domain.api_keys import Principal, Role
from streams.errors import ConfigurationError, Invalid, Transient, Unauthenticated
from streams.settings import JWT_KEYS, Jwt

log = logging.getLogger(__name__)

ALGORITHMS = ("RS256", "PS256", "ES256", "ES384", "EdDSA")
LEEWAY = 30  # seconds that clocks may differ
LONGEST = 8_192  # characters of a token
FETCH = 5.0  # seconds for the provider's keys
LARGEST = 1_000_000  # bytes of them
KEPT = 300.0  # seconds: the provider takes a key out, and so long it still opens
AGAIN = 10.0  # seconds between two fetches, whatever key ids tokens name


class JwtTokens:
    """Checks tokens with the keys of one provider, which are read when first needed and again when they are old."""

    def __init__(
        self, found: Jwt, *, clock: Callable[[], float] = time.monotonic, schemes: tuple[str, ...] = ("https://",)
    ) -> None:
        """Read the keys over one of the schemes, else from a file."""
        self._found = found
        self._clock = clock
        self._schemes = schemes
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._read_at = self._tried_at = float("-inf")
        self._failed = False  # the last reading
        self._reading: asyncio.Task[None] | None = None

    async def principal(self, token: str) -> Principal:
        """Return whom a token stands for; raise Unauthenticated, or Transient where the keys cannot be had."""
        try:
            if len(token) > LONGEST:
                raise Unauthenticated(f"the token is longer than {LONGEST:,} characters")
            key = await self._key(str(jwt.get_unverified_header(token).get("kid", "")))
            claims = jwt.decode(
                token,
                key=key,
                algorithms=ALGORITHMS,
                audience=self._found.audience,
                issuer=self._found.issuer,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            raise Unauthenticated(f"the token is not good: {error}") from None
        return self._of(claims)

    def _of(self, claims: Mapping[str, Any]) -> Principal:
        tenant_claim, agents_claim, roles_claim = self._found.claims
        tenant, agents, given = claims.get(tenant_claim), _texts(claims, agents_claim), _texts(claims, roles_claim)
        if not isinstance(tenant, str):
            raise Unauthenticated(f"the token has no claim {tenant_claim!r} with the name of a tenant")
        if agents_claim in claims and not agents:
            # Of no agent is not of every agent, which only a token without the claim is.
            raise Unauthenticated(f"the token's claim {agents_claim!r} names no agent; leave it out for all of them")
        # A provider's other roles are no business of ours.
        roles: list[Role] = [role for role in get_args(Role) if role in given]
        try:
            api_keys.check_names(tenant, agents)
            checked = api_keys.checked_roles(roles, agents)
        except Invalid as error:
            raise Unauthenticated(f"the token's claims: {error}") from None
        return Principal(tenant=tenant, agents=agents, roles=frozenset(checked), key_id=f"jwt:{claims['sub']}")

    async def _key(self, kid: str) -> jwt.PyJWK:
        if kid in self._keys and not self._old():
            return self._keys[kid]
        if reading := self._again():
            await asyncio.shield(reading)
        if kid in self._keys and not self._old():
            return self._keys[kid]
        if self._failed:
            raise Transient(f"{JWT_KEYS}: the provider's keys cannot be had")
        raise Unauthenticated("the token is signed by a key that its provider does not name")

    def _old(self) -> bool:
        return self._clock() - self._read_at > KEPT

    def _again(self) -> asyncio.Task[None] | None:
        """Read the keys, once for all who ask meanwhile; not when they were read just now."""
        if self._reading is None or self._reading.done():
            if self._clock() - self._tried_at <= AGAIN:
                return None
            self._reading = asyncio.create_task(self._take(), name="keys of the identity provider")
        return self._reading

    async def _take(self) -> None:
        self._tried_at = began = self._clock()
        try:
            self._keys, self._read_at, self._failed = _usable(await self._read()), began, False
        except Transient as error:
            self._failed = True
            log.warning("%s", error)

    async def _read(self) -> Any:
        place = self._found.keys
        try:
            if not place.startswith(self._schemes):
                return json.loads(await asyncio.to_thread(Path(place).read_bytes))
            limit = aiohttp.ClientTimeout(total=FETCH)
            async with (
                aiohttp.ClientSession(timeout=limit) as session,
                session.get(place, allow_redirects=False) as got,
            ):
                got.raise_for_status()
                data = bytearray()
                async for piece in got.content.iter_chunked(65_536):
                    data += piece
                    if len(data) > LARGEST:
                        raise ValueError("too long")
                return json.loads(data)
        except (OSError, ValueError, TimeoutError, aiohttp.ClientError) as error:
            raise Transient(f"{JWT_KEYS}: the provider's keys cannot be had ({type(error).__name__})") from None


def check_file(place: str) -> None:
    """Raise ConfigurationError for a file without keys; a provider on the network may be away when we start."""
    if place.startswith("https://"):
        return
    try:
        usable = _usable(json.loads(Path(place).read_bytes()))
    except OSError as error:
        raise ConfigurationError(f"{JWT_KEYS}: {place} cannot be read: {error.strerror}") from None
    except ValueError:
        usable = {}
    if not usable:
        raise ConfigurationError(
            f'{JWT_KEYS}: {place} is no JSON Web Key Set with a public key: {{"keys": [{{"kty": "RSA", …}}]}}'
        )


async def check(found: Jwt, *, schemes: tuple[str, ...] = ("https://",)) -> None:
    """Read the keys now: raise ConfigurationError where there are none, Transient where the provider has no answer."""
    if not found.keys.startswith(schemes):
        check_file(found.keys)
    elif not _usable(await JwtTokens(found, schemes=schemes)._read()):
        raise ConfigurationError(f"{JWT_KEYS}: the provider's answer is no JSON Web Key Set with a public key")


def _usable(jwks: Any) -> Mapping[str, jwt.PyJWK]:
    """Return the public signing keys by their id; what is of another kind, such as a shared secret, is left out."""
    found: dict[str, jwt.PyJWK] = {}
    keys = jwks.get("keys") if isinstance(jwks, dict) else None
    for each in keys if isinstance(keys, list) else ():
        if not isinstance(each, dict) or each.get("kty") not in ("RSA", "EC", "OKP") or each.get("use", "sig") != "sig":
            continue
        try:
            key = jwt.PyJWK.from_dict(each)
        except (jwt.PyJWTError, ValueError, TypeError):
            continue
        found[str(each.get("kid", ""))] = key
    return found


def _texts(claims: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a claim that is a list of texts, or one text with spaces between, as OAuth writes scopes."""
    value = claims.get(name, ())
    parts = value.split() if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise Unauthenticated(f"the token's claim {name!r} must be a list of texts")
    return tuple(parts)
