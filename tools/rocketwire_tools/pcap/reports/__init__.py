"""What the sub-commands print and write: rows, the summary, plots, conversations, routes, exported packets.

It may import ``decode`` and every room below it.
"""
