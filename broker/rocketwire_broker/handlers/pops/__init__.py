"""The answers to consumers that pop: messages, acknowledgements, and the return of messages.

It may import ``handlers``, ``state``, ``storage``, ``tables`` and ``config``.
"""
