"""The shipped profiles, as TOML."""
