"""JSON Web Tokens: only what the provider signed for us opens."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from streams.adapters.memory_keys import MemoryKeys
from streams.errors import Transient, Unauthenticated
from streams.gateways import keys
from streams.gateways.keys import Keys
from streams.gateways.tokens import LEEWAY, JwtTokens
from streams.settings import Jwt

PRIVATE = rsa.generate_private_key(public_exponent=65537, key_size=2048)
STRANGER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CURVE = ec.generate_private_key(ec.SECP256R1())


def claims(**fields: Any) -> dict[str, Any]:
    given = {"iss": "https://id.example", "aud": "rankstream", "sub": "ann", "exp": time.time() + 60}
    given |= {"tenant": "acme", "roles": ["read", "billing"]} | fields
    return {name: value for name, value in given.items() if value is not None}


def signed(key: Any = PRIVATE, algorithm: str = "RS256", kid: str = "one", **fields: Any) -> str:
    return jwt.encode(claims(**fields), key, algorithm=algorithm, headers={"kid": kid})


@pytest.fixture
def settings(tmp_path: Path) -> Jwt:
    ours = [
        RSAAlgorithm.to_jwk(PRIVATE.public_key(), as_dict=True) | {"kid": "one", "alg": "RS256"},
        ECAlgorithm.to_jwk(CURVE.public_key(), as_dict=True) | {"kid": "curve"},
        {"kty": "oct", "kid": "shared", "k": base64.urlsafe_b64encode(b"s" * 32).decode()},
    ]
    file = tmp_path / "jwks.json"
    file.write_text(json.dumps({"keys": ours}))
    return Jwt(keys=str(file), issuer="https://id.example", audience="rankstream")


async def test_a_good_token_stands_for_its_claims_and_other_roles_are_passed_over(settings: Jwt) -> None:
    principal = await JwtTokens(settings).principal(signed(agents=["sales"]))
    assert (principal.tenant, principal.agents, principal.roles) == ("acme", ("sales",), {"read"})
    assert principal.key_id == "jwt:ann"


async def test_a_token_without_agents_is_for_all_of_them(settings: Jwt) -> None:
    assert (await JwtTokens(settings).principal(signed())).agents == ()


async def test_other_algorithms_of_the_list_and_scopes_written_as_text_are_read(settings: Jwt) -> None:
    principal = await JwtTokens(settings).principal(signed(CURVE, "ES256", "curve", roles="write read"))
    assert principal.roles == {"read", "write"}


async def test_a_token_and_a_key_open_the_same_door(settings: Jwt) -> None:
    store = MemoryKeys()
    doors = Keys(store, JwtTokens(settings))
    key = await keys.create(store, tenant="umbrella")
    assert (await doors.authenticate(f"Bearer {signed()}")).tenant == "acme"
    assert (await doors.authenticate(f"Bearer {key}")).tenant == "umbrella"


def _public_pem() -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return PRIVATE.public_key().public_bytes(serialization.Encoding.PEM, form)


def _confused() -> str:
    """A token signed with our public key as if it were a shared secret; PyJWT itself refuses to make one."""
    parts = [{"alg": "HS256", "typ": "JWT", "kid": "one"}, claims()]
    body = b".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    mac = hmac.new(_public_pem(), body, hashlib.sha256).digest()
    return (body + b"." + base64.urlsafe_b64encode(mac).rstrip(b"=")).decode()


BAD = {
    "unsigned": lambda: signed(None, "none"),
    "a public key taken for a shared secret": _confused,
    "a shared secret of the provider": lambda: signed("s" * 32, "HS256", "shared"),
    "a stranger's signature": lambda: signed(STRANGER),
    "a key that is not named": lambda: signed(kid="two"),
    "a changed body": lambda: ".".join([signed().split(".")[0], signed(tenant="umbrella").split(".")[1], "AA"]),
    "expired": lambda: signed(exp=time.time() - LEEWAY - 5),
    "not yet good": lambda: signed(nbf=time.time() + LEEWAY + 60),
    "another issuer": lambda: signed(iss="https://evil.example"),
    "another audience": lambda: signed(aud="someone-else"),
    "no audience": lambda: signed(aud=None),
    "no end": lambda: signed(exp=None),
    "no subject": lambda: signed(sub=None),
    "no tenant": lambda: signed(tenant=None),
    "a tenant that is no name": lambda: signed(tenant="../acme"),
    "a tenant that is a list": lambda: signed(tenant=["acme", "umbrella"]),
    "agents that are no texts": lambda: signed(agents=[1]),
    "an empty list of agents": lambda: signed(agents=[]),
    "agents that are an empty text": lambda: signed(agents=""),
    "agents that are blanks": lambda: signed(agents="  "),
    "agents that are no list": lambda: signed(agents={}),
    "agents that are null": lambda: jwt.encode(claims() | {"agents": None}, PRIVATE, "RS256", headers={"kid": "one"}),
    "no role of ours": lambda: signed(roles=["billing"]),
    "a writer bound to agents": lambda: signed(roles=["write"], agents=["sales"]),
    "too long": lambda: signed(padding="x" * 9000),
    "no token at all": lambda: "a.b.c",
    "nothing like it": lambda: "\x00é" * 20,
}


@pytest.mark.parametrize("what", BAD)
async def test_every_other_token_is_refused(settings: Jwt, what: str) -> None:
    with pytest.raises(Unauthenticated):
        await JwtTokens(settings).principal(BAD[what]())


async def test_without_the_providers_keys_nobody_is_let_in_and_it_is_said_that_it_may_pass(settings: Jwt) -> None:
    tokens = JwtTokens(replace(settings, keys=settings.keys + ".gone"))
    for _ in range(2):
        with pytest.raises(Transient, match="RANKSTREAM_JWT_KEYS"):
            await tokens.principal(signed())
