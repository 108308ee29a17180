"""A RocketMQ broker for development and tests: one process, messages in memory.

Clients of any language that speak the remoting protocol work with it unchanged.
"""
