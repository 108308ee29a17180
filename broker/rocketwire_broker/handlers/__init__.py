"""The answers to requests, one module per subject.

A handler is a function ``(broker, request, peer, now) -> Response | None``; None means that it
answers later. ``registry.handles`` declares its codes. A request that cannot be read raises
``DecodeError`` (code 1), another refusal ``RefusedError``.
"""
