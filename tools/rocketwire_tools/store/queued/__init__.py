"""Messages of chosen topics, found through their consume queues."""
