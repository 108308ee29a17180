"""Registers a broker at name servers, for programs that are brokers."""
