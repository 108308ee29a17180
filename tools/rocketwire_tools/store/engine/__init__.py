"""Messages of commit logs: bytes in, rows out."""
