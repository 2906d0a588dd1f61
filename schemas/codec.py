"""Bytes to messages and back, with errors that name the field."""

from __future__ import annotations

import functools
import re
from typing import Any, Literal, TypeVar

import msgspec

from schemas.base import Message, Schema

M = TypeVar("M", bound=Message)

_PATH = re.compile(r" - at `\$\.?(?P<path>[^`]*)`$")


class InvalidMessage(ValueError):
    """Bytes that are not the message they should be; `kind` is `decode` (not JSON) or `validation` (a wrong field)."""

    def __init__(self, kind: Literal["decode", "validation"], field: str | None, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.kind = kind
        self.field = field
        self.message = message


@functools.cache
def _decoder(expected: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(expected)


_ENCODER = msgspec.json.Encoder()


def encode(message: Message) -> bytes:
    """Return the JSON of `message`."""
    return _ENCODER.encode(message)


def decode(data: bytes, expected: type[M]) -> M:
    """Read one message of the `expected` class (or union of classes); raise InvalidMessage."""
    try:
        message: M = _decoder(expected).decode(data)
    except msgspec.ValidationError as error:
        raise complaint(error) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidMessage("decode", None, f"not JSON: {error}") from error
    _check_version(message)
    return message


def from_builtins(data: Any, expected: type[M]) -> M:
    """Build a message from dicts and lists; raise InvalidMessage."""
    try:
        message: M = msgspec.convert(data, expected)
    except msgspec.ValidationError as error:
        raise complaint(error) from error
    _check_version(message)
    return message


def complaint(error: msgspec.ValidationError) -> InvalidMessage:
    """Return what msgspec says of a value as an error that names the field."""
    text = str(error)
    found = _PATH.search(text)
    field = (found["path"] or None) if found else None
    if missing := re.search(r"missing required field `([^`]+)`", text):
        field = f"{field}.{missing[1]}" if field else missing[1]
    return InvalidMessage("validation", field, _PATH.sub("", text))


def _check_version(message: Any) -> None:
    version = getattr(message, "schema_version", Schema.CURRENT)
    if not 1 <= version <= Schema.CURRENT:
        fields = {f.name: f.encode_name for f in msgspec.structs.fields(type(message))}
        raise InvalidMessage(
            "validation",
            fields["schema_version"],
            f"{type(message).__name__} version {version} is not known here; this release reads 1 to {Schema.CURRENT}",
        )
