"""Connections without sockets: bytes in, frames out."""
