"""Sockets, time and name servers around the broker, with trio."""
