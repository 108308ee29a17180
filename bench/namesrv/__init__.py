"""The name server beside Java's."""
