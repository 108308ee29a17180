"""A RocketMQ broker for development and tests: one process, messages in memory or in a folder.

Clients of any language that speak the remoting protocol work with it unchanged.
"""
