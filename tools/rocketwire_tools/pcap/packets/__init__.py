"""Packets: the TCP segments in a chunk of records.

It may import ``files``.
"""
