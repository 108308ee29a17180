"""The broker for development, compared with Java's."""
