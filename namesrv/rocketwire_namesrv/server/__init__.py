"""The server under trio: connections, timers, signals and the two drivers.

It may import every other room; only ``__main__`` imports it.
"""
