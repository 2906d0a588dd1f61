"""The dashboards, one a file: panels, and what each asks Prometheus."""
