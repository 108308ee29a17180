"""The fast path of a request over an idle connection: the task that sends also reads the response.

It may import ``rocketwire.connection`` and ``rocketwire.wire``.
"""
