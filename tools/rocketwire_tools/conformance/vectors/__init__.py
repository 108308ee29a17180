"""The golden vectors, exported for codecs in other languages.

It imports no other package of the suite.
"""
