"""Readers of single settings: each returns a value of its form, or notes what is wrong with what is there."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

from streams.errors import ConfigurationError

BY_LLM = "llm"  # as a reranker: the language model
T = TypeVar("T")
P = ParamSpec("P")


class Environment(dict[str, str]):
    """The variables, and what was found wrong with them."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__(variables)
        self.problems: list[str] = []


def noted(
    function: Callable[Concatenate[Environment, P], T],
) -> Callable[Concatenate[Environment, P], T]:
    """Note what a reader of a setting finds wrong and go on with the next one, so that all is told at once."""

    @functools.wraps(function)
    def noting(environment: Environment, /, *arguments: P.args, **options: P.kwargs) -> T:
        try:
            return function(environment, *arguments, **options)
        except ConfigurationError as error:
            environment.problems.append(str(error))
            nothing: Any = None  # nobody works with settings of which one is wrong
            return nothing  # type: ignore[no-any-return]

    return noting


@noted
def names(environment: Environment, name: str) -> tuple[str, ...] | None:
    """Return the names between commas; none where there are none."""
    return tuple(filter(None, (part.strip() for part in environment.get(name, "").split(",")))) or None


def unless_none(environment: Environment, name: str) -> str | None:
    """Return a text; none for `none` too."""
    value = environment.get(name, "").strip()
    return None if value.lower() in ("", "none") else value


@noted
def address(environment: Environment, name: str) -> tuple[str, int] | None:
    """Return host and port."""
    text = environment.get(name)
    if not text:
        return None
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65_535:
        raise ConfigurationError(f"{name} is {text!r}; it must be host:port, such as 0.0.0.0:8080")
    return host.strip("[]"), int(port)


@noted
def endpoint(environment: Environment, name: str) -> str | None:
    """Return the URL of OTLP over HTTP."""
    text = environment.get(name, "").strip()
    if not text:
        return None
    if not re.fullmatch(r"https?://[^/\s@]+/?", text):
        raise ConfigurationError(f"{name} must be a URL of OTLP over HTTP, such as http://otel-collector:4318")
    return text.rstrip("/")


@noted
def share(environment: Environment, name: str, default: float) -> float:
    """Return a number between 0 and 1."""
    must = "a share between 0 and 1"
    return _number(environment, name, default, least=0, most=1, must=must, number=must)


@noted
def choice(environment: Environment, name: str, choices: tuple[str, ...]) -> str:
    """Return one of several words; the first where nothing is given."""
    value = environment.get(name) or choices[0]
    if value not in choices:
        raise ConfigurationError(f"{name} is {value!r}; it must be one of {', '.join(choices)}")
    return value


@noted
def level(environment: Environment, name: str) -> str:
    """Return a level of logging."""
    value = (environment.get(name) or "WARNING").upper()
    if value not in ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG"):
        raise ConfigurationError(f"{name} is {value!r}; use DEBUG, INFO, WARNING or ERROR")
    return value


@noted
def seconds(environment: Environment, name: str, default: float) -> float:
    """Return a time of 1 to 300 seconds."""
    must, number = "between 1 and 300 seconds", "a number of seconds"
    return _number(environment, name, default, least=1, most=300, must=must, number=number)


@noted
def rate(environment: Environment, name: str, default: float, what: str) -> float:
    """Return how many of what a second; 0: no limit."""
    must = f"a number of {what} a second, or 0 for no limit"
    return _number(environment, name, default, least=0, most=1e9, must=must, number=must)


def _number(
    environment: Environment, name: str, default: float, *, least: float, most: float, must: str, number: str
) -> float:
    """Return a number within bounds; raise ConfigurationError with what it must be, or that it must be a number."""
    text = environment.get(name)
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        raise ConfigurationError(f"{name} is {text!r}; it must be {number}") from None
    if not least <= value <= most:
        raise ConfigurationError(f"{name} is {text!r}; it must be {must}")
    return value
