"""The pop consumer: the broker keeps track of each message of the group.

It may import ``rocketwire.client.consumer``, ``instance`` and ``net``; it does not use the other
consumers.
"""
