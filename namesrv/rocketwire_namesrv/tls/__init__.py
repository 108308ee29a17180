"""TLS: certificates, cipher suites, and streams that encrypt.

It may import ``runtime``, ``config`` and the library.
"""
