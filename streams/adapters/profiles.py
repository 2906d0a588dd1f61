"""Reads profiles: those that come with rankstream, and an operator's own beside them."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import msgspec

from streams import settings
from streams.adapters.profile_fields import choices, nearest
from streams.domain import synonyms
from streams.domain.profile import Profile
from streams.domain.profile_rules import problems
from streams.domain.relevance import Weights, lacking
from streams.domain.synonyms import Synonyms
from streams.errors import ConfigurationError


@dataclass(frozen=True, kw_only=True)
class Profiles:
    """All profiles by name, the dictionaries of those that have one, and where each was read."""

    by_name: Mapping[str, Profile]
    synonyms: Mapping[str, Synonyms]
    files: Mapping[str, str]


def load(folder: Path | None = None) -> Profiles:
    """Read the shipped profiles and those of a folder; of one name, the folder's.

    Raises ConfigurationError: one line with the file, the field and what to do.
    """
    found: dict[str, Profile] = {}
    dictionaries: dict[str, Synonyms] = {}
    files: dict[str, str] = {}
    for place in (_SHIPPED, *((_own(folder),) if folder else ())):
        for file in sorted(place.iterdir(), key=lambda entry: entry.name):
            if file.name.endswith(".toml") and file.is_file():
                name = file.name.removesuffix(".toml")
                found[name] = profile = read(str(file), _bytes(file), name=name)
                files[name] = str(file)
                dictionaries.pop(name, None)
                if profile.synonyms is not None:
                    dictionaries[name] = _dictionary(profile.synonyms, place, str(file))
    return Profiles(by_name=dict(sorted(found.items())), synonyms=dictionaries, files=files)


_SHIPPED: Traversable = resources.files("streams.profiles")


def shipped() -> Mapping[str, Profile]:
    """Return the profiles that come with rankstream, by name."""
    return load().by_name


def weights(folder: Path | None = None) -> Mapping[str, Weights]:
    """Return the weights of P(relevant) by embedder: the shipped ones, and those in `weights/` of a folder of profiles.

    Of one embedder the folder's count. Raises ConfigurationError with the file.
    """
    found: dict[str, Weights] = {}
    for place in (_SHIPPED, *((_own(folder),) if folder else ())):
        inside = place.joinpath("weights")
        for file in sorted(inside.iterdir(), key=lambda entry: entry.name) if inside.is_dir() else ():
            if file.name.endswith(".json") and file.is_file():
                try:
                    read = msgspec.json.decode(_bytes(file), type=Weights)
                except msgspec.MsgspecError as error:
                    raise ConfigurationError(
                        f"{file}: {error}; `rankstream calibrate --out` writes such a file"
                    ) from error
                if problems_of_weights := lacking(read):
                    raise ConfigurationError(f"{file}: {'; '.join(problems_of_weights)}; fit them again")
                found[read.embedder] = read
    return found


def read(file: str, data: bytes, *, name: str) -> Profile:
    """Read one profile, which must have this `name`; raise ConfigurationError with the file and the field."""
    try:
        # A byte order mark is an editor's, and no part of TOML.
        raw = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(f"{file}: is not TOML: {error}") from error
    _check_fields(file, raw)
    try:
        profile = msgspec.convert(raw, Profile)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{file}: {_wording(str(error))}") from error
    if profile.name != name:
        raise ConfigurationError(f"{file}: name: is {profile.name!r}; it must be {name!r}, as the file is called")
    if found := problems(profile):
        raise ConfigurationError(f"{file}: {'; '.join(found)}")
    return profile


def _own(folder: Path) -> Path:
    if not folder.is_dir():
        what = "is no folder" if folder.exists() else "does not exist"
        raise ConfigurationError(f"{settings.PROFILES}: {folder} {what}; name the folder of your profiles, or unset it")
    return folder


def _bytes(file: Traversable) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{file}: cannot be read: {error.strerror}") from error


def _dictionary(name: str, folder: Traversable, profile: str) -> Synonyms:
    """Read a dictionary beside its profile, or else one of the shipped ones."""
    file = next((file for place in (folder, _SHIPPED) if (file := place.joinpath(name)).is_file()), None)
    if file is None:
        raise ConfigurationError(
            f"{profile}: synonyms: there is no file {name!r}; the path begins at the folder of the profile ({folder})"
        )
    try:
        return Synonyms(synonyms.parse(_bytes(file).decode("utf-8-sig")))
    except synonyms.InvalidSynonyms as error:
        raise ConfigurationError(f"{file}: {error} (synonyms of {profile})") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file}: is not UTF-8: {error} (synonyms of {profile})") from error


def _check_fields(file: str, raw: Mapping[str, Any]) -> None:
    """Say more of an unknown or missing field, and of a weight, than the schema would."""
    for field in raw:
        if field not in Profile.__struct_fields__:
            raise ConfigurationError(f"{file}: {field}: is no field of a profile{nearest(field)}")
    for field in ("name", "summary", "legs"):
        if field not in raw:
            raise ConfigurationError(f"{file}: {field}: is missing; add it")
    given = raw.get("weights", {})
    for leg, weight in given.items() if isinstance(given, dict) else ():
        if not isinstance(weight, int | float) or isinstance(weight, bool) or not 0 <= weight < math.inf:
            raise ConfigurationError(f"{file}: weights.{leg}: is {weight!r}; it must be a number, 0 or more")
    for field, value in raw.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigurationError(f"{file}: {field}: is {value}; it must be a finite number")


def _wording(error: str) -> str:
    """Turn msgspec's words into `field: what`, with what there is to choose from."""
    text, _, path = error.rpartition(" - at ")
    field = path.strip("`").replace("key` in `", "").removeprefix("$").lstrip(".") if text else ""
    return f"{field}: {text}{choices(field) if 'enum' in text else ''}" if field else error
