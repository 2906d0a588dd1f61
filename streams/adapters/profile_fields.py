"""What the fields of a profile are called and may be, for whoever wrote one wrong."""

from __future__ import annotations

import difflib
import re

import msgspec

from streams.domain.profile import Profile


def nearest(name: str, *, of: type[msgspec.Struct] = Profile) -> str:
    """Return the known field that is nearest to a name, or all of them where none is near, as the end of a sentence."""
    known = of.__struct_fields__
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]}?" if close else f"; there are {', '.join(known)}"


def choices(path: str) -> str:
    """Return what a field of a choice may be, as the end of a sentence; nothing for other fields."""
    name = re.split(r"[.\[]", path, maxsplit=1)[0]
    kinds = [each.type for each in _FIELDS if each.name == name]
    found = [str(value) for kind in kinds for value in _literals(kind)]
    return f"; it must be one of {', '.join(found)}" if found else ""


_PROFILE = msgspec.inspect.type_info(Profile)
_FIELDS = _PROFILE.fields if isinstance(_PROFILE, msgspec.inspect.StructType) else ()


def _literals(kind: msgspec.inspect.Type) -> tuple[object, ...]:
    match kind:
        case msgspec.inspect.LiteralType(values=values):
            return tuple(values)
        case msgspec.inspect.VarTupleType(item_type=inner) | msgspec.inspect.DictType(key_type=inner):
            return _literals(inner)
        case msgspec.inspect.UnionType(types=types):
            return tuple(value for inner in types for value in _literals(inner))
        case _:
            return ()
