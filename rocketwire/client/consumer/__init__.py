"""The parts that all consumers share: pulling, rebalancing, offsets, retries, trace.

Each kind of consumer has its own room. It may import ``trace``, ``publish``, ``instance`` and
``net``.
"""
