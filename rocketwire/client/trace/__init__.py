"""Message trace: its records, and the task that sends them to the trace topic.

Producers and consumers use it; it may import ``publish``, ``instance`` and ``net``.
"""
