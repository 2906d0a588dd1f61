"""The join of a question's leg results: what has come, what is missing. Time comes in as an argument."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.queries import Expected, Leg, LegResult


@dataclass(eq=False)
class Join:
    """One open question. The first result of a leg counts, later ones are repeats."""

    expected: Expected | None = None
    results: dict[Leg, LegResult] = field(default_factory=dict)

    def add(self, message: Expected | LegResult) -> bool:
        """Take a record of the question; false when it is a repeat."""
        if isinstance(message, Expected):
            repeated = self.expected is not None
            self.expected = self.expected or message
            return not repeated
        if message.leg in self.results:
            return False
        self.results[message.leg] = message
        return True

    @property
    def complete(self) -> bool:
        """Whether every leg that was asked has answered."""
        return self.expected is not None and all(leg in self.results for leg in self.expected.query.legs)


def wait_until(expected: Expected, legs_budget: float) -> float:
    """Return until when (seconds since the epoch) missing legs are waited for.

    Something is kept back of the deadline for reading the passages and for the way back.
    """
    left = expected.query.deadline - expected.prepared
    kept_back = min(0.15, left * 0.25)
    return min(expected.query.deadline - kept_back, expected.prepared + legs_budget)
