"""What all consumers share: pulling, rebalancing, offsets, retries, trace.

Each kind of consumer has a room of its own.

It may import ``producer``, which sends the trace, ``instance`` and ``net``.
"""
