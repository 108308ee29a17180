"""The producer: sending, batches, transactions, requests with replies, and message trace.

It may import ``instance`` and ``net``; it does not know consumers.
"""
