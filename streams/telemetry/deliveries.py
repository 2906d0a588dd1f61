"""What came of the exports: one line when the collector cannot be had, where the libraries say a page."""

from __future__ import annotations

import logging
import threading
from typing import Any

import requests

from streams.settings import TELEMETRY

log = logging.getLogger(__name__)


class Deliveries:
    """How the exports of this process went so far."""

    def __init__(self, *, told: bool = True) -> None:
        """told: the first failure is logged."""
        self.delivered = False  # any of them, ever
        self.failed = False
        self.why = ""  # the last one failed
        self._told = told
        self._one = threading.Lock()  # three exporters work at the same time

    def good(self) -> None:
        """Note an export that was taken."""
        self.delivered = True

    def bad(self, why: str) -> None:
        """Note one that was not; the first is told."""
        with self._one:
            first, self.failed, self.why = not self.failed, True, why
        if first and self._told:
            log.warning("%s: the collector does not take what is sent (%s); this is said once", TELEMETRY, why)


class Session(requests.Session):
    """Requests' session, which notes what came of each request: exporters tell after their last attempt alone."""

    def __init__(self, deliveries: Deliveries) -> None:
        super().__init__()
        self._deliveries = deliveries

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Send a request."""
        try:
            response = super().send(request, **options)
        except requests.RequestException as error:
            self._deliveries.bad(type(error).__name__)
            raise
        if response.ok:
            self._deliveries.good()
        else:
            self._deliveries.bad(f"status {response.status_code}")
        return response
