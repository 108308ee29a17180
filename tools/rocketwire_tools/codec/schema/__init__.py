"""Descriptions of the protocol: its schema, its layouts, and the bytes of one packet explained.

It may import ``values`` and the library.
"""
