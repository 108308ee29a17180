"""Documents for operators: the HTTP exchange, metrics and the status page; ``server`` has the port.

Pure.  It may import ``protocol``, ``routes``, ``config``, ``events`` and the library.
"""
