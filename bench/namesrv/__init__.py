"""The name server, compared with Java's."""
