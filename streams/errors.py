"""The errors of rankstream.

RankstreamError
├── ConfigurationError      a setting is wrong or missing: one line, exit 2
│   └── Unreachable         what a setting names does not answer when we start: it may be right, and the server down
├── Invalid                 the input is wrong and will stay wrong: dead letter at once, or an error reply
│   ├── NoVectors           a model is asked for that has no vectors
│   └── Undeliverable       an output that the broker refuses for what it is
├── Transient               an outside system failed and may recover: retry with back-off
│   ├── Overloaded          a record waited too long for its turn: its sender is told at once
│   ├── ModelUnavailable    a model or its provider does not answer; writers wait for it as for a store
│   └── StoreUnavailable    a store that writers wait for, without a limit
│       └── BrokerUnavailable   the broker did not take an output
├── Unauthenticated         who asks is not known: no key, a wrong one, one that was revoked or has expired
├── Forbidden               who asks is known and may not do this
├── CannotContinue          not even a dead letter can be produced: the process must stop
└── NoReply                 no reply came by the deadline

Beside it stands schemas.codec.InvalidMessage: bytes that are not the message they should be.
"""

from __future__ import annotations


class RankstreamError(Exception):
    """Something went wrong in rankstream."""


class ConfigurationError(RankstreamError):
    """A setting is wrong or missing."""


class Unreachable(ConfigurationError):
    """What a setting names does not answer: the server may be down, or the setting wrong."""


class Invalid(RankstreamError):
    """The input is wrong and will stay wrong."""

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message


class NoVectors(Invalid):
    """A question asks for a model that has no vectors; its message may be shown to whoever asked."""

    def __init__(self, model: str, generation: str) -> None:
        super().__init__(f"no vectors for {model} in generation {generation}")


class Undeliverable(Invalid):
    """An output that the broker refuses for what it is (too large); asking again cannot help."""


class Transient(RankstreamError):
    """An outside system failed and may recover."""


class Overloaded(Transient):
    """A record waited too long for its turn."""


class ModelUnavailable(Transient):
    """A model, or who hosts it, does not answer."""


class StoreUnavailable(Transient):
    """A store cannot be reached."""


class BrokerUnavailable(StoreUnavailable):
    """The broker did not take an output."""


class Unauthenticated(RankstreamError):
    """Who asks is not known."""


class Forbidden(RankstreamError):
    """Who asks is known and may not do this."""

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message


class CannotContinue(RankstreamError):
    """Not even the dead letter could be produced, or a setting is wrong: stop without acknowledging."""


class NoReply(RankstreamError):
    """No reply came by the deadline."""
