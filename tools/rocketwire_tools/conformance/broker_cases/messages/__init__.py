"""Cases of messages: sending, reading, popping, delays, retries, transactions."""
