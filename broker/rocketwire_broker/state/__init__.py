"""All that a broker knows and will do: store, tables, schedule, waits, frames to send.

It may import ``storage``, ``tables`` and ``config``.
"""
