"""Sockets, time and name servers around the broker, with trio.

It may import everything else of this program, and the name server.
"""
