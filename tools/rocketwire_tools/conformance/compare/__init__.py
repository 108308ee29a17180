"""Comparison of two servers: ``diff``.

It imports only ``run``, ``model`` and the library.
"""
