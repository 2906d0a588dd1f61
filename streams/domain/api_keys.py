"""API keys: what one looks like, what is kept of it, and whom it stands for.

A key is `rsk_` + a public id of 12 hexadecimal digits + `_` + a secret of 256 random bits in URL-safe base64. Kept is
the SHA-256 of the whole key. A slow hash with a salt protects what people choose, because guesses are few enough to
try; 256 random bits cannot be guessed at any speed, and a slow hash would be paid by every request.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from schemas.base import NAME_PATTERN
from streams.errors import Forbidden, Invalid

Role = Literal["read", "write", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
PREFIX = "rsk_"
SECRET_BYTES = 32
ID_BYTES = 6
LONGEST_NAME = 128  # characters, as in messages

_KEY = re.compile(r"rsk_([0-9a-f]{12})_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, kw_only=True)
class Principal:
    """Whom a request stands for. The tenant comes from here and from nowhere else."""

    tenant: str
    agents: tuple[str, ...] = ()  # empty: every agent of the tenant
    roles: frozenset[Role] = frozenset()  # `admin` may do everything of its tenant
    key_id: str  # what logs and limits call it; of a token: its subject

    def need(self, role: Role) -> None:
        """Raise Forbidden unless the principal has a role."""
        if role not in self.roles and "admin" not in self.roles:
            raise Forbidden(f"this key may not {_DOES[role]}; it needs the role {role!r}")

    def agent(self, wanted: str | None) -> str | None:
        """Return the agent that a request speaks for; raise Forbidden, or Invalid where one must be named."""
        if not self.agents:
            return wanted
        if wanted is None:
            if len(self.agents) == 1:
                return self.agents[0]
            raise Invalid(f"this key speaks for several: name one of {', '.join(self.agents)}", field="agent")
        if wanted not in self.agents:
            raise Forbidden(f"this key speaks for {', '.join(self.agents)} only", field="agent")
        return wanted


_DOES = {"read": "ask or read", "write": "publish or delete", "admin": "look at the system"}


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """What is kept of a key. The digest is no secret to guess from, but is kept out of what is printed."""

    key_id: str
    digest: bytes = field(repr=False)
    tenant: str
    agents: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ("read",)
    name: str = ""  # for people: who has it
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def opens(self, key: str, now: datetime) -> bool:
        """Tell whether `key` is this one, and good at a time; compares in constant time."""
        same = hmac.compare_digest(self.digest, digest(key))
        good = self.revoked_at is None and (self.expires_at is None or now < self.expires_at)
        return same and good

    @property
    def principal(self) -> Principal:
        return Principal(tenant=self.tenant, agents=self.agents, roles=frozenset(self.roles), key_id=self.key_id)


def written(key_id: bytes, secret: bytes) -> str:
    """Return a key made of `ID_BYTES` and `SECRET_BYTES` random bytes."""
    return f"{PREFIX}{key_id.hex()}_{base64.urlsafe_b64encode(secret).rstrip(b'=').decode()}"


def id_of(key: str) -> str | None:
    """Return the public id within a key; none for what is no key."""
    found = _KEY.fullmatch(key)
    return found[1] if found else None


def digest(key: str) -> bytes:
    """Return what is kept of a key."""
    return hashlib.sha256(key.encode()).digest()


def check_names(tenant: str, agents: Sequence[str]) -> None:
    """Raise Invalid, which names the field, for what is no name of a tenant or an agent."""
    for field_name, name in (("tenant", tenant), *(("agents", agent) for agent in agents)):
        if not re.match(NAME_PATTERN, name) or len(name) > LONGEST_NAME:
            allowed = f"may have only a-z, 0-9, '.', '_' and '-', and at most {LONGEST_NAME} of them"
            raise Invalid(f"{allowed}; it is {name[:80]!r}", field=field_name)


def checked_roles(roles: Sequence[str], agents: Sequence[str]) -> tuple[Role, ...]:
    """Return the roles, in order and once each; raise Invalid for unknown ones and for writers bound to agents.

    Whom a document is for is written in the document: a writer that were bound to some agents could still take any
    document away from the others.
    """
    if unknown := sorted(set(roles) - set(ROLES)):
        raise Invalid(f"{unknown[0]!r} is not a role; there are {', '.join(ROLES)}", field="roles")
    if not roles:
        raise Invalid(f"name at least one of {', '.join(ROLES)}", field="roles")
    if agents and set(roles) != {"read"}:
        raise Invalid("a key that is bound to agents can only read; make another key to write", field="roles")
    return tuple(role for role in ROLES if role in roles)
