"""TCP streams: segments put in order, and frames cut out of them.

It may import ``packets`` and ``files``.
"""
