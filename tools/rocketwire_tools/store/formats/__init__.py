"""Rows as record batches of Arrow, and as lines of JSON."""
