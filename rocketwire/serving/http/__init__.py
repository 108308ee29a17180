"""A port for HTTP: its connections, their exchanges, and pieces of pages."""
