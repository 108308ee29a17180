"""The pop consumer: a member of a group whose broker keeps track of each message.

It may import ``rocketwire.client.consumer``, ``instance`` and ``net``; it does not know the other
consumers.
"""
