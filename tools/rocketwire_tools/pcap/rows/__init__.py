"""Rows: frames with their requests and replies paired, as Arrow batches, filtered, masked and written.

It may import ``headers``, ``streams`` and ``packets``.
"""
