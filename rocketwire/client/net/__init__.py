"""Calls to name servers and brokers: channel pool, choice of a name server, typed requests.

It may import the modules of ``rocketwire.client`` and ``rocketwire.transport``.
"""
