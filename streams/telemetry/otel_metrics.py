"""Metrics to a collector, every few seconds in a thread of their own, by the exporter of OpenTelemetry's SDK."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics import export
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from streams.telemetry import aggregates, signals
from streams.telemetry.aggregates import Aggregates, Point
from streams.telemetry.instruments import Instrument

CUMULATIVE = export.AggregationTemporality.CUMULATIVE


class Metrics:
    """Exports sums and what is looked up; one export that fails loses nothing, as sums go on."""

    def __init__(self, exporter: OTLPMetricExporter, resource: Resource, *, scope: str, every: float) -> None:
        self.aggregates = Aggregates()
        self._exporter = exporter
        self._resource = resource
        self._scope = InstrumentationScope(scope)
        self._every = every  # seconds
        self._since = time.time_ns()
        self._ended = threading.Event()
        self._one = threading.Lock()  # exports do not overtake each other
        self._thread = threading.Thread(target=self._run, name="telemetry-metrics", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(self._every):
            self.flush()

    def flush(self) -> None:
        """Export now."""
        points = {**self.aggregates.points(), **aggregates.looked_up(signals.reads())}
        if not points:
            return
        with self._one:
            now = time.time_ns()
            metrics = [self._metric(instrument, found, now) for instrument, found in points.items()]
            scoped = export.ScopeMetrics(scope=self._scope, metrics=metrics, schema_url="")
            resources = export.ResourceMetrics(resource=self._resource, scope_metrics=[scoped], schema_url="")
            self._exporter.export(export.MetricsData(resource_metrics=[resources]))

    def shutdown(self) -> None:
        """Export for the last time."""
        self._ended.set()
        self.flush()
        self._exporter.shutdown()

    def _metric(self, instrument: Instrument, points: Sequence[Point], now: int) -> export.Metric:
        data: export.DataT
        if instrument.kind == "histogram":
            histograms = [
                export.HistogramDataPoint(
                    attributes=_labels(each),
                    start_time_unix_nano=self._since,
                    time_unix_nano=now,
                    count=each.count,
                    sum=each.sum,
                    bucket_counts=each.buckets,
                    explicit_bounds=instrument.bounds,
                    min=each.least,
                    max=each.most,
                )
                for each in points
            ]
            data = export.Histogram(data_points=histograms, aggregation_temporality=CUMULATIVE)
        else:
            numbers = [
                export.NumberDataPoint(
                    attributes=_labels(each),
                    start_time_unix_nano=self._since,
                    time_unix_nano=now,
                    value=float(each.sum),
                )
                for each in points
            ]
            data = (
                export.Sum(data_points=numbers, aggregation_temporality=CUMULATIVE, is_monotonic=True)
                if instrument.kind == "counter"
                else export.Gauge(data_points=numbers)
            )
        return export.Metric(name=instrument.name, description=instrument.summary, unit=instrument.unit, data=data)


def _labels(point: Point) -> Mapping[str, str]:
    return dict(point.labels)
