"""The backend over OpenTelemetry's SDK, by OTLP over HTTP; only the files otel*.py import it."""

from __future__ import annotations

import logging
import os
import re
import socket
import threading
import time
from collections.abc import Mapping

from opentelemetry._logs import Logger, SeverityNumber
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics.export import MetricsData
from opentelemetry.sdk.resources import Resource
from opentelemetry.trace import NonRecordingSpan, set_span_in_context

from streams import release
from streams.errors import ConfigurationError, Transient
from streams.telemetry.deliveries import Deliveries, Session
from streams.telemetry.instruments import Instrument
from streams.telemetry.logs import line
from streams.telemetry.otel_metrics import Metrics
from streams.telemetry.otel_spans import Spans, placed
from streams.telemetry.signals import Attributes, Span
from streams.telemetry.signals import SpanKind as Kind

log = logging.getLogger(__name__)

SCOPE = "rankstream"
TRACES_EVERY = 2_000  # milliseconds
METRICS_EVERY = 15.0  # seconds, as Prometheus scrapes
HOPELESS = 0.3  # seconds that an end waits for a collector that never took anything
TIMEOUT = 5.0  # seconds for one export
_REFUSED = re.compile("status 4(?!08|29)..")  # another attempt will not help


class Otel:
    """The Backend port: batches in threads of their own, so that no record waits for the collector."""

    def __init__(self, endpoint: str, *, service: str, sample: float, traces_every: int = TRACES_EVERY) -> None:
        """endpoint: OTLP over HTTP, up to the port; sample: the share of traces that is kept."""
        resource = Resource.create(
            {
                "service.name": service,
                "service.namespace": SCOPE,
                "service.instance.id": f"{socket.gethostname()}:{os.getpid()}",
                "service.version": release.identity(release.hashes()),
            }
        )
        self._deliveries = Deliveries()
        base = endpoint.rstrip("/")
        traces = OTLPSpanExporter(endpoint=f"{base}/v1/traces", timeout=TIMEOUT, session=Session(self._deliveries))
        self._spans = Spans(traces, resource, scope=SCOPE, sample=sample, every=traces_every)
        exporter = OTLPMetricExporter(endpoint=f"{base}/v1/metrics", timeout=TIMEOUT, session=Session(self._deliveries))
        self._metrics = Metrics(exporter, resource, scope=SCOPE, every=METRICS_EVERY)
        self._logs = LoggerProvider(resource=resource, shutdown_on_exit=False)
        logs = OTLPLogExporter(endpoint=f"{base}/v1/logs", timeout=TIMEOUT, session=Session(self._deliveries))
        self._logs.add_log_record_processor(BatchLogRecordProcessor(logs, schedule_delay_millis=traces_every))
        self._record = self._metrics.aggregates.record
        self.handler: logging.Handler = _Logs(self._logs.get_logger(SCOPE))

    def start(
        self, name: str, kind: Kind, parent: Span | str | None, attributes: Attributes, since: float | None = None
    ) -> Span:
        """Begin a span."""
        return self._spans.start(name, kind, parent, attributes, since)

    def record(self, instrument: Instrument, value: float, labels: Mapping[str, str]) -> None:
        """Count or measure something."""
        self._record(instrument, value, labels)

    def close(self, seconds: float) -> None:
        """Export what is left, within so many seconds: a collector that is away must not hold up an end.

        Where exports fail and none was ever taken, all that is left is given up after `HOPELESS` seconds.
        """

        def end() -> None:
            self._spans.shutdown()
            self._metrics.shutdown()
            self._logs.shutdown()

        thread = threading.Thread(target=end, name="telemetry-end", daemon=True)
        thread.start()
        began = time.monotonic()
        while thread.is_alive() and (passed := time.monotonic() - began) < seconds:
            if passed >= HOPELESS and self._deliveries.failed and not self._deliveries.delivered:
                return
            thread.join(min(0.05, seconds - passed))

    def flush(self) -> None:
        """Export now."""
        self._spans.flush()
        self._metrics.flush()
        self._logs.force_flush()


def check(endpoint: str) -> None:
    """Send empty exports as a process would, with its headers and certificates; blocks for some seconds at most.

    Raises ConfigurationError where the collector refuses them, Transient where it does not answer.
    """
    for path in ("traces", "metrics", "logs"):
        came = Deliveries(told=False)
        with Session(came) as session:
            _send_nothing(f"{endpoint.rstrip('/')}/v1/{path}", session)
        if not came.delivered:
            said = f"the collector does not take {path} ({came.why or 'no answer'})"
            raise (ConfigurationError if _REFUSED.fullmatch(came.why) else Transient)(said)


def _send_nothing(endpoint: str, session: Session) -> None:
    if endpoint.endswith("metrics"):
        OTLPMetricExporter(endpoint=endpoint, timeout=TIMEOUT, session=session).export(MetricsData(resource_metrics=[]))
    elif endpoint.endswith("traces"):
        OTLPSpanExporter(endpoint=endpoint, timeout=TIMEOUT, session=session).export(())
    else:
        OTLPLogExporter(endpoint=endpoint, timeout=TIMEOUT, session=session).export(())


class _Logs(logging.Handler):
    """Hands log lines on, but for what the exporters say of themselves."""

    def __init__(self, logger: Logger) -> None:
        super().__init__()
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith(("opentelemetry", "urllib3")):
            return
        try:
            said = line(record)
            at = placed(f"00-{said.pop('trace_id', '')}-{said.pop('span_id', '')}-01")
            self._logger.emit(
                timestamp=int(record.created * 1e9),
                context=Context() if at is None else set_span_in_context(NonRecordingSpan(at)),
                severity_number=_severity(record.levelno),
                severity_text=said.pop("level"),
                body=said.pop("message"),
                attributes={name: value for name, value in said.items() if name != "time"},
            )
        except Exception:
            self.handleError(record)


def _severity(level: int) -> SeverityNumber:
    """Return a level of Python's by the number that OpenTelemetry has for it: 10 is DEBUG = 5, 50 is FATAL = 21."""
    return SeverityNumber(min(21, max(1, level // 10 * 4 + 1)))
