"""Comparison of servers: ``diff`` of two servers, and ``record`` and ``replay`` of a conversation.

It imports only ``run``, ``model`` and the library.
"""
