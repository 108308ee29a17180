"""The lite pull consumer: it asks for messages at its own pace.

It may import ``rocketwire.client.consumer``, ``instance`` and ``net``; it does not know the other
consumers.
"""
