"""Where messages go when they are stored, and what happens to them later.

Delays, times of delivery, checks of transactions, and returns of popped messages.

It may import ``state``, ``storage``, ``tables`` and ``config``.
"""
