"""One connection under trio, shared by all tasks that send requests over it.

It may import ``rocketwire.connection``, ``rocketwire.events`` and ``rocketwire.wire``.
"""
