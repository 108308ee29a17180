"""What happens to messages later: delays, times of delivery, checks of transactions.

It may import ``state``, ``storage`` and ``config``.
"""
