"""The push consumer: a member of a group that receives messages as they arrive.

It may import ``rocketwire.client.consumer``, ``instance`` and ``net``; it does not use the other
consumers.
"""
