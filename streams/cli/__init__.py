"""The `rankstream` command: one file a subcommand."""
