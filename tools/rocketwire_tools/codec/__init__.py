"""``rocketwire-codec``: the codec on the command line, one line in and one JSON object out.

Vocabulary: a *line* is a packet as hex, or an object to be written; a *refusal* is the object that
stands in the place of a line that could not be read; a *plain* value is made of what JSON has.
"""
