"""Accounts with keys, secrets and permissions."""
