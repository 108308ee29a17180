"""Who may send which request: accounts with keys, secrets and permissions.

It imports nothing of this program.
"""
