"""The answers about lite topics: many short-lived topics under one parent; since 5.5.0.

It may import ``handlers``, ``state``, ``storage``, ``tables`` and ``config``.
"""

from __future__ import annotations
