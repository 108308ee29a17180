"""Output of the sub-commands: rows, reports, plots, conversations, routes and packets.

It may import ``decode`` and every room below it.
"""
