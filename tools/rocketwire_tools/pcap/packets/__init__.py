"""Packets: TCP segments of a chunk of records.

It may import ``files``.
"""
