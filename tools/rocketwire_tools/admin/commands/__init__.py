"""The commands; ``admin.registry`` collects the ``COMMANDS`` of each module."""
