"""Qdrant's JSON filters as filters of the embedded engine."""

from collections.abc import Callable
from typing import Any

import qdrant_edge as edge

from streams.embedded.qdrant_errors import Unsupported, bad_request

Condition = Any
_CLAUSES = ("must", "should", "must_not")


def parse(given: Any) -> edge.Filter | None:
    """A filter object, or None for none; raises BadRequest on a malformed and Unsupported on an unknown part."""
    if given is None:
        return None
    if not isinstance(given, dict):
        raise bad_request("filter must be an object")
    _only(given, _CLAUSES, "filter")
    must, should, must_not = (_conditions(given.get(clause)) for clause in _CLAUSES)
    return edge.Filter(must=must, should=should, must_not=must_not)


def _conditions(given: Any) -> list[Condition] | None:
    if given is None:
        return None
    return [_condition(each) for each in (given if isinstance(given, list) else [given])]


def _condition(given: Any) -> Condition:
    if not isinstance(given, dict):
        raise bad_request("a condition must be an object")
    given = {name: value for name, value in given.items() if value is not None}
    if "has_id" in given:
        _only(given, ("has_id",), "condition")
        return edge.HasIdCondition(set(given["has_id"]))
    for name, make in (("is_empty", edge.IsEmptyCondition), ("is_null", edge.IsNullCondition)):
        if isinstance(given.get(name), dict):
            _only(given, (name,), "condition")
            return make(given[name]["key"])
    if "key" in given:
        return _field(given)
    if any(clause in given for clause in _CLAUSES):
        return parse(given)
    raise Unsupported(f"condition with {', '.join(sorted(given)) or 'nothing'}")


def _field(given: dict[str, Any]) -> edge.FieldCondition:
    _only(given, ("key", "match", "range"), "field condition")
    options: dict[str, Any] = {}
    if "match" in given:
        options["match"] = _match(given["match"])
    if "range" in given:
        bounds = {name: value for name, value in given["range"].items() if value is not None}
        _only(bounds, ("gt", "gte", "lt", "lte"), "range")
        if not all(isinstance(value, int | float) for value in bounds.values()):
            raise Unsupported("range over anything but numbers")
        options["range"] = edge.RangeFloat(**bounds)
    if not options:
        raise bad_request(f"field condition on {given['key']!r} has no match or range")
    return edge.FieldCondition(given["key"], **options)


def _match(given: dict[str, Any]) -> Any:
    kinds: dict[str, Callable[[Any], Any]] = {
        "value": edge.MatchValue,
        "any": edge.MatchAny,
        "except": edge.MatchExcept,
    }
    for kind, make in kinds.items():
        if kind in given:
            _only(given, (kind,), "match")
            return make(given[kind])
    raise Unsupported(f"match by {', '.join(sorted(given)) or 'nothing'}")


def _only(given: dict[str, Any], known: tuple[str, ...], what: str) -> None:
    unknown = sorted(name for name, value in given.items() if name not in known and value is not None)
    if unknown:
        raise Unsupported(f"{what} with {', '.join(unknown)}")
