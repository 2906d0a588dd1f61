"""What the pipeline tells of itself: traces, metrics and logs. Only otel.py and otel_metrics.py import the SDK."""
