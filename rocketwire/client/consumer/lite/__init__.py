"""The lite pull consumer: the application polls for messages.

It may import ``rocketwire.client.consumer``, ``instance`` and ``net``; it does not use the other
consumers.
"""
