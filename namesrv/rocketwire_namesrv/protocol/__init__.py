"""The state of the name server and the sessions that change it: bytes in, bytes and effects out.

Pure.  It may import ``registration``, ``routes``, ``config`` and the library.
"""
