"""The answers about logical queues of static topics, whose sections are queues of several brokers.

It may import ``handlers``, ``state``, ``tables`` and ``config``.
"""

from __future__ import annotations
