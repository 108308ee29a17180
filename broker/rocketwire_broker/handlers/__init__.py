"""The answers to requests, one module per subject.

A handler is a plain function ``(broker, request, peer, now) -> Response | None``; None means that
it answers later. A module has the table ``HANDLERS`` of its codes; ``protocol.handler_table`` joins
them. A request that cannot be read raises ``DecodeError`` (code 1); other refusals raise
``RefusedError``.

It may import ``state``, ``storage``, ``tables`` and ``config``.
"""
