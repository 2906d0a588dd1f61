"""The errors of rankstream.

RankstreamError
├── ConfigurationError      a setting is wrong or missing: one line, exit 2
├── Invalid                 the input is wrong and will stay wrong: dead letter at once, or an error reply
├── Transient               an outside system failed and may recover: retry with back-off
│   └── StoreUnavailable    a store that writers wait for, without a limit
└── NoReply                 no reply came by the deadline
"""

from __future__ import annotations


class RankstreamError(Exception):
    """Something went wrong in rankstream."""


class ConfigurationError(RankstreamError):
    """A setting is wrong or missing."""


class Invalid(RankstreamError):
    """The input is wrong and will stay wrong."""

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message


class Transient(RankstreamError):
    """An outside system failed and may recover."""


class StoreUnavailable(Transient):
    """A store cannot be reached."""


class NoReply(RankstreamError):
    """No reply came by the deadline."""
