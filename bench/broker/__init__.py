"""The broker for development beside Java's: start, memory, CPU time of each message, stop."""
