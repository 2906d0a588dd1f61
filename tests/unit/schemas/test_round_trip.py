"""Every message that its type allows survives the wire, and no bytes break the codec."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from msgspec import inspect as types

from schemas.base import Message
from schemas.codec import InvalidMessage, decode, encode
from schemas.generate import MESSAGES

SIGNED_64 = {"min_value": -(2**63), "max_value": 2**63 - 1}


def values(info: types.Type) -> st.SearchStrategy[Any]:  # noqa: PLR0911
    """Return the values of a type, by what msgspec knows of its constraints."""
    match info:
        case types.Metadata():
            return values(info.type)
        case types.StructType():
            return st.builds(info.cls, **{field.name: values(field.type) for field in info.fields})
        case types.StrType(pattern=str(pattern)):
            return st.from_regex(pattern, fullmatch=True).map(lambda text: text[: info.max_length])
        case types.StrType():
            return st.text(min_size=info.min_length or 0, max_size=20)
        case types.IntType():
            low, high = info.ge, info.le
            return st.integers(SIGNED_64["min_value"] if low is None else low, high or SIGNED_64["max_value"])
        case types.FloatType():
            return st.floats(info.ge, info.le, allow_nan=False, allow_infinity=False)
        case types.BoolType():
            return st.booleans()
        case types.NoneType():
            return st.none()
        case types.LiteralType():
            return st.sampled_from(info.values)
        case types.VarTupleType():
            return st.lists(values(info.item_type), max_size=3).map(tuple)
        case types.DictType():
            return st.dictionaries(values(info.key_type), values(info.value_type), max_size=3)
        case types.UnionType():
            return st.one_of(*map(values, info.types))
    raise NotImplementedError(info)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
def test_what_is_encoded_is_decoded_to_the_same(message: type[Message]) -> None:
    # The largest messages take long to make where the machine is busy.
    @settings(max_examples=25, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(values(types.type_info(message)))
    def holds(example: Message) -> None:
        try:
            same = decode(encode(example), message)
        except InvalidMessage as error:
            # The type allows any schema version; the codec reads those it knows.
            assert error.field in ("schema_version", "version")
        else:
            assert same == example

    holds()


@settings(max_examples=300, deadline=None, database=None)
@given(st.one_of(st.binary(max_size=60), st.recursive(st.none() | st.text(), st.lists).map(msgspec.json.encode)))
def test_no_bytes_raise_anything_but_invalid_message(data: bytes) -> None:
    for message in MESSAGES:
        with pytest.raises(InvalidMessage):
            decode(data, message)
