"""Descriptions of the protocol: one object, and pages.

It may import ``values`` and the library.
"""
