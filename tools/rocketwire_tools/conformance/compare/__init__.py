"""Comparison of servers: ``diff`` of two servers, and ``record`` and ``replay`` of a conversation.

It may import ``run`` and ``model``.
"""
