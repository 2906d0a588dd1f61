"""A collector for tests: a real HTTP server that decodes OTLP and keeps all that came, and its bytes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

REQUESTS = {
    "/v1/traces": ExportTraceServiceRequest,
    "/v1/metrics": ExportMetricsServiceRequest,
    "/v1/logs": ExportLogsServiceRequest,
}


class Collector:
    """What was exported."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.requests: list[Any] = []
        self.url = ""

    @property
    def spans(self) -> list[Any]:
        """All spans, in the order in which they came."""
        found = [each for each in self.requests if isinstance(each, ExportTraceServiceRequest)]
        return [
            span for each in found for of in each.resource_spans for scope in of.scope_spans for span in scope.spans
        ]

    @property
    def logs(self) -> list[Any]:
        """All log lines."""
        found = [each for each in self.requests if isinstance(each, ExportLogsServiceRequest)]
        return [
            line for each in found for of in each.resource_logs for scope in of.scope_logs for line in scope.log_records
        ]

    @property
    def services(self) -> set[str]:
        """The names of all processes whose metrics came."""
        return {each["service.name"] for each in self.resources()}

    def resources(self) -> Iterator[Mapping[str, str]]:
        """Yield what each process whose metrics came says of itself, once for each export."""
        for each in self.requests:
            if isinstance(each, ExportMetricsServiceRequest):
                yield from (attributes(of.resource) for of in each.resource_metrics)

    def points(self) -> Iterator[tuple[str, Mapping[str, str], Any]]:
        """Yield every point of every metric: its name, its labels and itself."""
        for each in self.requests:
            if not isinstance(each, ExportMetricsServiceRequest):
                continue
            for metric in [m for of in each.resource_metrics for scope in of.scope_metrics for m in scope.metrics]:
                for point in getattr(metric, metric.WhichOneof("data")).data_points:
                    yield metric.name, attributes(point), point


def attributes(of: Any) -> dict[str, Any]:
    """Return the attributes of a span, a link or a point."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in of.attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    """Serve on a free port of this machine."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = REQUESTS[self.path]()
            request.ParseFromString(body)
            collector.bodies.append(body)
            collector.requests.append(request)
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    collector.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
