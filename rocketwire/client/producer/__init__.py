"""The producer: single messages, batches, transactions, requests with replies, traces.

It may import ``trace``, ``publish``, ``instance`` and ``net``; it does not use consumers.
"""
