"""Documents for operators: status pages, a browser of messages, metrics.

It may import ``handlers``, ``later``, ``state``, ``storage``, ``tables`` and the name server's room
of the same name.
"""
