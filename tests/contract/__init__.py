"""The same tests for every store and its in-memory twin."""
