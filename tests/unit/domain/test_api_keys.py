"""API keys: their form, what opens, and what a principal may do."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from streams.domain import api_keys
from streams.domain.api_keys import ApiKey, Principal
from streams.errors import Forbidden, Invalid

NOW = datetime(2030, 1, 1, tzinfo=UTC)
KEY = api_keys.written(b"\x01" * 6, b"\x02" * 32)
KEPT = ApiKey(key_id="010101010101", digest=api_keys.digest(KEY), tenant="acme", created_at=NOW)


def test_a_key_says_its_public_id_and_is_kept_as_the_sha_256_of_all_of_it() -> None:
    assert KEY == "rsk_010101010101_" + "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI"
    assert api_keys.id_of(KEY) == "010101010101"
    assert KEPT.digest == hashlib.sha256(KEY.encode()).digest()
    assert "digest" not in repr(KEPT)


@pytest.mark.parametrize(
    "text", ["", "rsk_", KEY[:-1], KEY + "=", KEY + "\n", " " + KEY, KEY.upper(), KEY.replace("_0", "_g")]
)
def test_what_only_looks_like_a_key_has_no_id(text: str) -> None:
    assert api_keys.id_of(text) is None


def test_a_key_opens_until_it_expires_or_is_revoked_and_no_other_key_does() -> None:
    other = api_keys.written(b"\x01" * 6, b"\x03" * 32)
    assert KEPT.opens(KEY, NOW)
    assert not KEPT.opens(other, NOW)
    assert not replace(KEPT, revoked_at=NOW).opens(KEY, NOW)
    expiring = replace(KEPT, expires_at=NOW + timedelta(seconds=1))
    assert [expiring.opens(KEY, NOW + timedelta(seconds=after)) for after in (0, 1, 2)] == [True, False, False]


def test_a_role_allows_itself_and_admin_allows_all() -> None:
    reader = Principal(tenant="acme", roles=frozenset({"read"}), key_id="k")
    reader.need("read")
    with pytest.raises(Forbidden, match="publish or delete; it needs the role 'write'"):
        reader.need("write")
    for role in api_keys.ROLES:
        Principal(tenant="acme", roles=frozenset({"admin"}), key_id="k").need(role)


def test_a_key_speaks_for_its_agents_only() -> None:
    anyone = Principal(tenant="acme", key_id="k")
    assert (anyone.agent(None), anyone.agent("sales")) == (None, "sales")
    one = Principal(tenant="acme", agents=("sales",), key_id="k")
    assert (one.agent(None), one.agent("sales")) == ("sales", "sales")
    with pytest.raises(Forbidden, match="agent: this key speaks for sales only"):
        one.agent("legal")
    two = Principal(tenant="acme", agents=("sales", "legal"), key_id="k")
    with pytest.raises(Invalid, match="name one of sales, legal"):
        two.agent(None)


@pytest.mark.parametrize(
    ("roles", "agents", "said"),
    [
        (["root"], [], "roles: 'root' is not a role; there are read, write, admin"),
        ([], [], "roles: name at least one of read, write, admin"),
        (["read", "write"], ["sales"], "roles: a key that is bound to agents can only read"),
    ],
)
def test_roles_that_make_no_sense_are_refused(roles: list[str], agents: list[str], said: str) -> None:
    with pytest.raises(Invalid, match=said):
        api_keys.checked_roles(roles, agents)


def test_roles_are_kept_in_order_and_once() -> None:
    assert api_keys.checked_roles(["write", "read", "write"], []) == ("read", "write")


@pytest.mark.parametrize(
    ("tenant", "agents", "field"), [("Acme", [], "tenant"), ("a" * 129, [], "tenant"), ("a", ["b c"], "agents")]
)
def test_a_key_is_for_names_that_messages_can_carry(tenant: str, agents: list[str], field: str) -> None:
    with pytest.raises(Invalid) as raised:
        api_keys.check_names(tenant, agents)
    assert raised.value.field == field
