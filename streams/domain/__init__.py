"""PURE: no await, no I/O, no clock, no randomness, no logging."""
