"""The servers of the one-machine default, started as child processes on loopback."""
