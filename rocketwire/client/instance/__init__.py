"""The client instance shared by producers and consumers: routes, heartbeats, brokers' requests."""
