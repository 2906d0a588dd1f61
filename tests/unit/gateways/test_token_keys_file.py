"""A file with an identity provider's keys is looked at when we start."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from streams.cli.checks import Checks
from streams.errors import ConfigurationError
from streams.gateways import keys, tokens
from streams.settings import JWT_KEYS, Jwt, Settings

SHARED = {"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "a"}]}  # a secret, which must open nothing
WRONG = ["", "not JSON", "[]", "{}", '{"keys": 5}', '{"keys": [{"kty": "EC"}]}', json.dumps(SHARED)]


@pytest.mark.parametrize("text", [None, *WRONG])
async def test_a_file_that_is_away_or_has_no_public_key_is_refused_by_all_and_the_setting_named(
    tmp_path: Path, text: str | None
) -> None:
    file = tmp_path / "jwks.json"
    if text is not None:
        file.write_text(text)
    jwt = Jwt(keys=str(file), issuer="https://id.example", audience="rankstream")
    found = Settings(data_dir=tmp_path, jwt=jwt)
    with pytest.raises(ConfigurationError, match=f"^{JWT_KEYS}: {file} "):
        async with keys.opened(found):
            pass
    [finding] = [each for each in await Checks(found, [], []).run() if each.name == "tokens"]
    assert finding.state == "wrong"
    assert finding.said.startswith(JWT_KEYS)


def test_a_file_with_a_public_key_is_good_and_a_provider_that_may_be_away_is_not_asked(tmp_path: Path) -> None:
    file = tmp_path / "jwks.json"
    public = ECAlgorithm.to_jwk(ec.generate_private_key(ec.SECP256R1()).public_key(), as_dict=True)
    file.write_text(json.dumps({"keys": [*SHARED["keys"], public | {"kid": "b"}]}))
    tokens.check_file(str(file))
    tokens.check_file("https://127.0.0.1:9/jwks.json")
