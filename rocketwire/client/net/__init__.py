"""Calls to name servers and brokers: channel pool, choice of a name server, typed requests."""
