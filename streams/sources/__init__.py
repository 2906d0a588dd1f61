"""Readers of documents outside: folders and JSON Lines files."""
