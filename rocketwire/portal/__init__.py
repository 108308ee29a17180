"""The thread in which trio runs for programs without trio: one per process.

``rocketwire.sync`` and ``rocketwire.aio`` stand on it. A facade opens a client of
``rocketwire.client`` here (``resources``) and calls its methods (``calls``). Calls and results
cross in batches: many calls wake trio once, and many results wake a loop of asyncio once.
"""
