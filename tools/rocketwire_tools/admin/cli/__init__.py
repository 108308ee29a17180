"""The command line: options, settings, output, exit status, standard streams and signals.

It may import ``rocketwire_tools.admin.command`` and the library.
"""
