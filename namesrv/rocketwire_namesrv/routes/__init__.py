"""The tables: which brokers are registered, and which topics have queues at which brokers.

Pure.  It may import ``rocketwire_namesrv.events`` and the library.
"""
