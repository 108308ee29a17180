"""Stored messages, with their ids, properties and compressed bodies.

It may import every other part of ``rocketwire.wire``.
"""
