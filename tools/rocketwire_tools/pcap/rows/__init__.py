"""Rows: frames with paired requests and replies, as Arrow batches, filtered, masked and written.

It may import ``headers``, ``streams`` and ``packets``.
"""
