"""The push consumer: a member of a group that gets messages as they arrive.

It may import ``rocketwire.client.consumer``, ``instance`` and ``net``; it does not know the other
consumers.
"""
