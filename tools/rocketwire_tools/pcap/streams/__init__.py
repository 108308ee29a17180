"""Streams: the segments of each direction of a connection in order, and the frames cut out of them.

It may import ``packets`` and ``files``.
"""
