"""The fast path of a request over an idle connection: the task that sends also reads the response.

``rocketwire.transport.fastpath.hook`` is its only entrance; everything works without it.  It may
import ``rocketwire.connection``, ``rocketwire.errors`` and ``rocketwire.wire``.
"""
