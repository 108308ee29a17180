"""Sends messages to the queues of a topic: requests, queue choice, retries, unique keys."""
