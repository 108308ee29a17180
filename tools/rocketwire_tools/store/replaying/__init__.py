"""Stored messages sent to a running cluster."""
