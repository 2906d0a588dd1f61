"""Where it travels: the Topic value type and the one catalogue of topics."""
