"""Access to the operating system: sockets, files, the log and the limits of the process.

It may import ``routes``, ``config`` and the library.
"""
