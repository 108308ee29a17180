"""Connections without sockets: bytes in, frames out.

It may import ``handlers``, ``state`` and ``tables``.
"""
