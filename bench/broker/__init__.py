"""The broker for development beside Java's."""
