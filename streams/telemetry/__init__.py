"""What the pipeline tells of itself: traces, metrics and logs. Only otel.py knows the SDK."""
