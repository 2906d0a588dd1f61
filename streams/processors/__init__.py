"""One file a processor: its name, source, sinks and handler."""
