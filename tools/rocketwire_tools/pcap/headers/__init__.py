"""Headers of many frames, read into columns.

It may import ``streams`` and ``files``.
"""
