"""The client instance, which producers and consumers of one client id share: routes, heartbeats, requests of brokers.

It may import ``net``.
"""
