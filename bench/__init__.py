"""Measured comparisons: two sides in one run, alternating, so that what the machine does meanwhile cancels out."""
