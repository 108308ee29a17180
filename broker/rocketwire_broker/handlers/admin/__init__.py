"""The answers to operators: topics, groups, progress, figures, and requests passed on to clients.

It may import ``handlers``, ``state``, ``storage``, ``tables`` and ``config``.
"""
