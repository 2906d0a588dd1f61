"""Measuring the search: labelled sets, metrics, significance, and the pipeline without its bus."""
