"""Reads profiles from TOML."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

import msgspec

from streams.domain.profile import Profile
from streams.domain.relevance import Weights
from streams.errors import ConfigurationError


def shipped() -> Mapping[str, Profile]:
    """Return the profiles that come with rankstream, by name."""
    files = sorted(resources.files("streams.profiles").iterdir(), key=lambda entry: entry.name)
    profiles = [read(file.name, file.read_bytes()) for file in files if file.name.endswith(".toml")]
    return {profile.name: profile for profile in profiles}


def weights() -> Mapping[str, Weights]:
    """Return the shipped weights of P(relevant), by embedder."""
    folder = resources.files("streams.profiles").joinpath("weights")
    files = [file for file in folder.iterdir() if file.name.endswith(".json")]
    found = [msgspec.json.decode(file.read_bytes(), type=Weights) for file in files]
    return {each.embedder: each for each in found}


def read(name: str, text: bytes) -> Profile:
    """Read one profile; raise ConfigurationError with the file's name and the field."""
    try:
        return msgspec.toml.decode(text, type=Profile)
    except msgspec.MsgspecError as error:
        raise ConfigurationError(f"profile {name}: {error}") from error
