"""The commands, some to a file; each file has a ``COMMANDS``, which ``rocketwire_tools.admin.registry`` collects."""
