"""Quotas by tenant: a token bucket each. Time comes in as an argument, in seconds of any one clock."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_TENANTS = 10_000  # remembered; the one that was longest away is forgotten first, and starts with a full bucket


@dataclass(eq=False)
class _Bucket:
    level: float
    at: float


@dataclass(kw_only=True)
class Quotas:
    """How much each tenant may use: `rate` a second, and at once what it left unused, at most `burst`."""

    rate: float
    burst: float
    _buckets: dict[str, _Bucket] = field(default_factory=dict)

    def take(self, tenant: str, amount: float, now: float) -> bool:
        """Take from a tenant's bucket; false when it is empty, and then nothing is taken.

        What is in the bucket may be overdrawn once, else a document larger than `burst` could never pass; the tenant
        pays by waiting longer.
        """
        bucket = self._buckets.pop(tenant, None) or _Bucket(level=self.burst, at=now)
        self._buckets[tenant] = bucket  # the last one is the one that was here last
        if len(self._buckets) > MOST_TENANTS:
            del self._buckets[next(iter(self._buckets))]
        bucket.level = min(self.burst, bucket.level + max(0.0, now - bucket.at) * self.rate)
        bucket.at = max(bucket.at, now)
        if bucket.level <= 0:
            return False
        bucket.level -= amount
        return True
