"""Messages in memory: queues of stored bytes, and the log that orders all of them."""
