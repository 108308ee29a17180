"""Decoding of a whole capture, in one process or several: a capture in, batches of rows out.

It may import ``rows`` and every room below it.
"""
