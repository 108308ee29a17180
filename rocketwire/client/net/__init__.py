"""Calls to name servers and brokers: the channel pool, the choice of a server, typed requests.

It may import the modules of ``rocketwire.client`` and ``rocketwire.transport``.
"""
