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

    def allows(self, tenant: str, now: float) -> bool:
        """Tell whether anything is left in a tenant's bucket."""
        return self._bucket(tenant, now).level > 0

    def wait(self, tenant: str, now: float) -> float:
        """Return the seconds until anything is left in a tenant's bucket."""
        return max(0.0, -self._bucket(tenant, now).level / self.rate)

    def charge(self, tenant: str, amount: float, now: float) -> None:
        """Take from a tenant's bucket, also more than there is: the tenant pays by waiting longer."""
        self._bucket(tenant, now).level -= amount

    def _bucket(self, tenant: str, now: float) -> _Bucket:
        bucket = self._buckets.pop(tenant, None) or _Bucket(level=self.burst, at=now)
        self._buckets[tenant] = bucket  # the last one is the one that was here last
        if len(self._buckets) > MOST_TENANTS:
            del self._buckets[next(iter(self._buckets))]
        bucket.level = min(self.burst, bucket.level + max(0.0, now - bucket.at) * self.rate)
        bucket.at = max(bucket.at, now)
        return bucket
