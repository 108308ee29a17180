"""The commands; ``admin.program`` collects the ``COMMANDS`` of each module."""
