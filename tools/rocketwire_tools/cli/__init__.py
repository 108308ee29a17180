"""The command line: options, settings, output, exit status, standard streams and signals.

Its modules import only ``rocketwire_tools.cli.command`` and the library.
"""
